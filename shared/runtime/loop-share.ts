import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

/** Time that other work gets on the event loop after a stretch of the job, as a fraction of that stretch. */
const SHARE_OF_OTHERS = 0.5;
/** The loop counts as idle once it has waited this long for something to do. */
const IDLE_MS = 1;

/**
 * Shares the event loop between a long job and the other work of the process. The job uses it for a stretch at a time. After
 * each, the other work gets the loop for half as long, or until it is idle. So the job takes at most two thirds of the loop
 * while there is other work, and otherwise all that is free.
 */
export class LoopShare {
  #began = performance.eventLoopUtilization();

  /** Ends the stretch that began when this last resolved. Resolves when the next one may begin. */
  async others(): Promise<void> {
    const ended = performance.eventLoopUtilization();
    const theirsMs = (ended.active - this.#began.active) * SHARE_OF_OTHERS;
    do {
      await setTimeout(1);
      this.#began = performance.eventLoopUtilization();
    } while (this.#began.active - ended.active < theirsMs && this.#began.idle - ended.idle < IDLE_MS);
  }
}
