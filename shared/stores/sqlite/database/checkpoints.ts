import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../../../runtime/module-beside.ts';
import { threadEnv } from '../../../runtime/thread-env.ts';
import type { LocalDatabase } from './database.ts';
import { isLogLonger } from './log-file.ts';
import { IN_MEMORY } from './sqlite-file.ts';

/** From this many bytes on, the log is checkpointed. */
const LONG_LOG_BYTES = 8 * 2 ** 20;
/** Interval between two checks of the log: a crawl that reads a long list writes 50 MB a second. */
const LOOK_EVERY_MS = 200;

/**
 * Keeps the log of a database short, with a thread that has its own connection, so that waits for the disk don't hold up the event
 * loop. The thread starts with the first long log; most crawls never need one. A database that nobody else can open is left to
 * SQLite's own checkpoints.
 */
export class Checkpoints {
  readonly #path: string;
  readonly #isNeeded: boolean;
  #timer: NodeJS.Timeout | undefined;
  #thread: Worker | undefined;
  #isBusy = false;

  constructor({ path, isExclusive }: Pick<LocalDatabase, 'path' | 'isExclusive'>) {
    this.#path = path;
    this.#isNeeded = path !== IN_MEMORY && !isExclusive;
  }

  start(): void {
    if (this.#isNeeded) this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  #look(): void {
    if (this.#isBusy || !isLogLonger(`${this.#path}-wal`, LONG_LOG_BYTES)) return;
    try {
      this.#started().postMessage('look');
      this.#isBusy = true;
    } catch {
      // The system may allow no further thread: the log grows until it does.
    }
  }

  #started(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(moduleBeside(import.meta.url, './checkpoint-thread'), {
      ...threadEnv(),
      workerData: this.#path,
    });
    this.#thread = thread;
    thread.unref();
    thread.on('message', () => {
      this.#isBusy = false;
    });
    // Without the thread the log grows, and the next look starts another one.
    thread.on('error', () => {
      this.#thread = undefined;
      this.#isBusy = false;
    });
    return thread;
  }
}
