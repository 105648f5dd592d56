import inspector from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { Service } from '../../runtime/lifecycle.ts';
import { threadEnv } from '../../runtime/thread-env.ts';
import { TICK_MS, WatchedMemory } from './memory.ts';

interface WatchdogOptions {
  /** How long the event loop may stand still before it counts as stuck. */
  readonly stuckAfterMs: number;
  /** What becomes of the work when the process is ended, as lines for people. */
  readonly lastWords: () => readonly string[];
}

/**
 * Ends this process, with exit code 1, when its event loop is stuck: a crawler's endless loop, which no signal and no time-out
 * would ever end. It says where, and with which page in hand.
 *
 * It is a thread, since nothing else runs then, and counts its own ticks: a process that was suspended, or a machine that
 * slept, was not stuck. While a debugger is attached it does nothing.
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
    this.#thread = new Worker(new URL('./thread.ts', import.meta.url), {
      ...threadEnv(),
      workerData: { shared, stuckAfterMs, words } satisfies WatchdogData,
    });
    this.#thread.unref();
    // Without it, all goes on as before.
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

  /** A page has the event loop to itself. */
  enter(url: string): void {
    this.#entered = this.#memory.ticks;
    this.#memory.url = url;
  }

  /** It has let go. Returns how long it was there, in milliseconds: no more than it was, and at most two ticks less. */
  leave(): number {
    this.#memory.url = '';
    return Math.max(0, this.#memory.ticks - this.#entered - 1) * TICK_MS;
  }
}

/** What the thread begins with. */
export interface WatchdogData {
  readonly shared: SharedArrayBuffer;
  readonly stuckAfterMs: number;
  readonly words: readonly string[];
}
