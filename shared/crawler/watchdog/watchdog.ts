import inspector from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { Service } from '../../runtime/lifecycle.ts';
import { moduleBeside } from '../../runtime/module-beside.ts';
import { threadEnv } from '../../runtime/thread-env.ts';
import { TICK_MS, WatchedMemory } from './memory.ts';

interface WatchdogOptions {
  /** Time without a turn of the event loop after which it counts as stuck. */
  readonly stuckAfterMs: number;
  /** Returns lines for people: what happens to the work when the process is ended. */
  readonly lastWords: () => readonly string[];
  /** Returns arguments of a Node.js process to run before this one ends, with the same standard error. Default: none. */
  readonly lastCommand?: () => readonly string[];
  /** Exit code of the process. Default: 1. */
  readonly exitCode?: number;
}

/**
 * Ends this process when its event loop is stuck, in a crawler's endless loop, say, which neither a signal nor a time-out would end. The
 * message names the line, and the page and step in hand.
 *
 * Runs in a thread of its own, since the main thread is blocked, and counts its own ticks, so that a suspended process or a sleeping machine
 * doesn't count as stuck. Does nothing while a debugger is attached.
 */
export class Watchdog implements Service {
  readonly #options: WatchdogOptions;
  readonly #memory = new WatchedMemory();
  #thread: Worker | undefined;
  #beats: NodeJS.Timeout | undefined;
  #entered = 0;
  #said = '';

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { stuckAfterMs, exitCode = 1 } = this.#options;
    const { shared } = this.#memory;
    const beat = (): void => this.#memory.beat(inspector.url() !== undefined);
    beat();
    const last = this.#last();
    this.#thread = startThread({ shared, stuckAfterMs, exitCode, ...last });
    this.#said = JSON.stringify(last);
    this.#beats = setInterval(() => {
      beat();
      this.tell();
    }, TICK_MS).unref();
  }

  /**
   * Passes the last words and the last command to the thread if they have changed. Happens by itself every {@link TICK_MS}; call it before
   * work that may block the event loop.
   */
  tell(): void {
    const last = this.#last();
    const said = JSON.stringify(last);
    if (said === this.#said) return;
    this.#said = said;
    this.#thread?.postMessage(last);
  }

  #last(): LastThings {
    const { lastWords, lastCommand } = this.#options;
    return { words: lastWords(), command: lastCommand?.() ?? [] };
  }

  async stop(): Promise<void> {
    clearInterval(this.#beats);
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  /** Notes that a page's step occupies the event loop. `step`: its name, if it has one. */
  enter(url: string, step = ''): void {
    this.#entered = this.#memory.ticks;
    this.#memory.page = step === '' ? url : `${url} ${step}`;
  }

  /** Notes that the step has returned. Returns the milliseconds it took: never too many, and at most two ticks too few. */
  leave(): number {
    this.#memory.page = '';
    return Math.max(0, this.#memory.ticks - this.#entered - 1) * TICK_MS;
  }
}

/** Starts the thread. If it fails, or the number of threads is limited, the process carries on without a watchdog. */
function startThread(workerData: WatchdogData): Worker | undefined {
  try {
    const thread = new Worker(moduleBeside(import.meta.url, './thread'), { ...threadEnv(), workerData });
    thread.unref();
    thread.on('error', () => {});
    return thread;
  } catch {
    return undefined;
  }
}

/** The words to print and the command to run when the process is ended. */
export interface LastThings {
  readonly words: readonly string[];
  readonly command: readonly string[];
}

/** The thread's initial data. */
export interface WatchdogData extends LastThings {
  readonly shared: SharedArrayBuffer;
  readonly stuckAfterMs: number;
  readonly exitCode: number;
}
