import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

/** How long the others have the event loop after a stretch, as a part of the stretch. */
const SHARE_OF_OTHERS = 0.5;
/** They leave it idle once it has waited this long for something to do. */
const IDLE_MS = 1;

/**
 * Shares the event loop between a long job and all else that the process does. The job takes it for a stretch at a time; after
 * each, the others have it for half as long, or until they leave it idle. So the job has two thirds of the loop at most while
 * the others have work, and what they don't need besides.
 */
export class LoopShare {
  #began = performance.eventLoopUtilization();

  /** Ends a stretch, which began when this last resolved. Resolves when the next one may begin. */
  async others(): Promise<void> {
    const ended = performance.eventLoopUtilization();
    const theirsMs = (ended.active - this.#began.active) * SHARE_OF_OTHERS;
    do {
      await setTimeout(1);
      this.#began = performance.eventLoopUtilization();
    } while (this.#began.active - ended.active < theirsMs && this.#began.idle - ended.idle < IDLE_MS);
  }
}
