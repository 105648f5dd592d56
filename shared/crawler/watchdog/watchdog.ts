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
  /** Arguments of another Node.js process, which runs to its end before this one ends, on the same standard error. Default: none. */
  readonly lastCommand?: () => readonly string[];
  /** What the process then ends with. Default: 1. */
  readonly exitCode?: number;
}

/**
 * Ends this process, with exit code 1 or another, when its event loop is stuck, as in a crawler's endless loop, which neither a signal nor
 * a time-out would end. The message says at which line, and with which page and step in hand.
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

  /** Hands on what is last, if it has changed. It does so itself every {@link TICK_MS}, unless the loop is stuck before. */
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

  /** Notes that a page's step has the event loop to itself. `step`: its name, if it has one. */
  enter(url: string, step = ''): void {
    this.#entered = this.#memory.ticks;
    this.#memory.page = step === '' ? url : `${url} ${step}`;
  }

  /** Notes that the step has returned. The result is its time in milliseconds: never too long, and at most two ticks short. */
  leave(): number {
    this.#memory.page = '';
    return Math.max(0, this.#memory.ticks - this.#entered - 1) * TICK_MS;
  }
}

/** If the thread fails, or can't begin where the number of threads is limited, the process carries on without a watchdog. */
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

/** What is said and done when the process is ended. */
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
