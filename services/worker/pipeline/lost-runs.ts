import type { Logger } from '../../../shared/runtime/logger.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';

/** Runs remembered at most; at this number all are forgotten, and told again. */
const MOST_RUNS = 1_000;

/** Says of each run that has deliveries, and that the store doesn't know, that it may be lost: once. */
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
      `unknown to the store, which may have lost its data (what is queued is recorded; offer the seeds again by ${TRAWL} produce --run):`,
    );
  }
}
