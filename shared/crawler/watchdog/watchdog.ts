import inspector from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { Service } from '../../runtime/lifecycle.ts';
import { moduleBeside } from '../../runtime/module-beside.ts';
import { threadEnv } from '../../runtime/thread-env.ts';
import { TICK_MS, WatchedMemory } from './memory.ts';

interface WatchdogOptions {
  /** How long the event loop may stand still before it counts as stuck. */
  readonly stuckAfterMs: number;
  /** Lines for people: what becomes of the work when the process is ended. */
  readonly lastWords: () => readonly string[];
}

/**
 * Ends this process, with exit code 1, when its event loop is stuck, as in a crawler's endless loop, which neither a signal nor
 * a time-out would end. The message says at which line, and with which page in hand.
 *
 * It runs in a thread, since nothing else runs then, and counts its own ticks, so that a suspended process or a sleeping
 * machine doesn't count as stuck. While a debugger is attached it does nothing.
 */
export class Watchdog implements Service {
  readonly #options: WatchdogOptions;
  readonly #memory = new WatchedMemory();
  #thread: Worker | undefined;
  #beats: NodeJS.Timeout | undefined;
  #entered = 0;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { stuckAfterMs, lastWords } = this.#options;
    const { shared } = this.#memory;
    const beat = (): void => this.#memory.beat(inspector.url() !== undefined);
    beat();
    const words = lastWords();
    this.#thread = new Worker(moduleBeside(import.meta.url, './thread'), {
      ...threadEnv(),
      workerData: { shared, stuckAfterMs, words } satisfies WatchdogData,
    });
    this.#thread.unref();
    // If the thread fails, the process carries on without a watchdog.
    this.#thread.on('error', () => {});
    let said = words.join('\n');
    this.#beats = setInterval(() => {
      beat();
      const now = lastWords();
      if (now.join('\n') === said) return;
      said = now.join('\n');
      this.#thread?.postMessage(now);
    }, TICK_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#beats);
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  /** Notes that a page's step has the event loop to itself. */
  enter(url: string): void {
    this.#entered = this.#memory.ticks;
    this.#memory.url = url;
  }

  /** Notes that the step has returned. The result is its time in milliseconds: never too long, and at most two ticks short. */
  leave(): number {
    this.#memory.url = '';
    return Math.max(0, this.#memory.ticks - this.#entered - 1) * TICK_MS;
  }
}

/** The thread's initial data. */
export interface WatchdogData {
  readonly shared: SharedArrayBuffer;
  readonly stuckAfterMs: number;
  readonly words: readonly string[];
}
