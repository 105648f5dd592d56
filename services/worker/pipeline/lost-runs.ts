import type { Logger } from '../../../shared/runtime/logger.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';

/** Maximum runs remembered; at this number all are forgotten, and reported again. */
const MOST_RUNS = 1_000;

/** Reports runs that have deliveries but are unknown to the store and may be lost. Each is reported once. */
export class LostRuns {
  readonly #log: Logger;
  readonly #told = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  met(run: string): void {
    if (this.#told.has(run)) return;
    if (this.#told.size >= MOST_RUNS) this.#told.clear();
    this.#told.add(run);
    this.#log.warn(
      { what: `run ${run}` },
      `unknown to the store, which may have lost its data or not be the fleet's: check REDIS_URL and KEY_PREFIX (queued pages are still recorded; offer the seeds again with ${TRAWL} produce --run):`,
    );
  }
}
