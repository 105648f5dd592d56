import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { codeOf } from '../../../shared/runtime/errors.ts';
import { memoryLimit } from '../../../shared/runtime/limits.ts';
import type { ProcessLoad } from './concurrency.ts';

/** Interval at which the event loop is measured. */
const RESOLUTION_MS = 20;
const NS_PER_MS = 1e6;
/** Length of a window of loop delays; in a shorter one, a single late turn would decide. */
const WINDOW_MS = 1_000;
/** Time in which delays don't count. Until V8 has compiled the code for a page, the event loop is late however few pages are open. */
const WARM_UP_MS = 5_000;

interface LoadMeterOptions {
  readonly warmUpMs?: number;
  readonly readRss?: () => number;
}

/** Measures the load of this process. */
export class LoadMeter {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #memoryLimit = memoryLimit();
  #utilization: EventLoopUtilization = performance.eventLoopUtilization();
  readonly #warmUpMs: number;
  readonly #readRss: () => number;
  #startedAt = performance.now();
  #windowBegan = this.#startedAt;
  #delayMs = 0;
  #rss = 0;

  /** @param readRss returns the process's resident memory in bytes */
  constructor({ warmUpMs = WARM_UP_MS, readRss = process.memoryUsage.rss }: LoadMeterOptions = {}) {
    this.#warmUpMs = warmUpMs;
    this.#readRss = readRss;
  }

  start(): void {
    this.#delays.enable();
    // The load before the start says nothing about the pages.
    this.#utilization = performance.eventLoopUtilization();
    this.#startedAt = performance.now();
  }

  stop(): void {
    this.#delays.disable();
  }

  /** Returns the load since the last call. The loop's delay is that of the last full second, and 0 during the warm-up. */
  read(): ProcessLoad {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#utilization);
    this.#utilization = now;
    const at = performance.now();
    const isWarm = at - this.#startedAt >= this.#warmUpMs;
    if (!isWarm || at - this.#windowBegan >= WINDOW_MS) {
      // The histogram holds the time between two looks at the loop: the resolution plus the delay.
      if (isWarm) this.#delayMs = Math.max(0, this.#delays.percentile(90) / NS_PER_MS - RESOLUTION_MS);
      this.#delays.reset();
      this.#windowBegan = at;
    }
    return { utilization, loopDelayMs: this.#delayMs, memoryShare: this.#rssNow() / this.#memoryLimit };
  }

  /** Reads the resident memory. That takes an open file: if none is left, the last value is returned. */
  #rssNow(): number {
    try {
      this.#rss = this.#readRss();
    } catch (error: unknown) {
      if (codeOf(error) !== 'EMFILE' && codeOf(error) !== 'ENFILE') throw error;
    }
    return this.#rss;
  }
}
