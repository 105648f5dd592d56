import type { RunTally } from '../../shared/ports/run-overview.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';

/** The period over which the pace is measured. */
const PACE_OVER_MS = 5 * SECOND_MS;

/** Measures the pace of all runs together. Runs that begin and end between two looks, as batches do, count as well. */
export class FleetPace {
  /** Pages of each run that were done, skipped or failed at the last look. */
  #ended: ReadonlyMap<string, number> = new Map();
  /** The store's time at the last look. */
  #readAt = 0;
  /** Pages done, skipped or failed since the first look. */
  #total = 0;
  #samples: { readonly at: number; readonly total: number }[] = [];

  /** Returns the pages per second over the last few seconds, or nothing at the first look. */
  look(runs: readonly RunTally[], now: number): number | undefined {
    const isFirst = this.#samples.length === 0;
    for (const progress of runs) {
      const before = this.#ended.get(progress.run) ?? 0;
      const isKnown = this.#ended.has(progress.run) || progress.startedAt > this.#readAt;
      // An older run that comes into view may have done its pages at any time: they don't count.
      if (isKnown && !isFirst) this.#total += Math.max(0, endedOf(progress) - before);
    }
    this.#ended = new Map(runs.map((progress) => [progress.run, endedOf(progress)]));
    this.#readAt = runs.reduce((latest, { readAt }) => Math.max(latest, readAt), this.#readAt);
    this.#samples.push({ at: now, total: this.#total });
    const recent = this.#samples.filter(({ at }) => now - at <= PACE_OVER_MS);
    // If looks are rarer than the period, the pace since the last look counts.
    this.#samples = recent.length > 1 ? recent : this.#samples.slice(-2);
    const [first] = this.#samples;
    if (first === undefined || now <= first.at) return undefined;
    return ((this.#total - first.total) / (now - first.at)) * SECOND_MS;
  }
}

function endedOf({ done, skipped, failed }: RunTally): number {
  return done + skipped + failed;
}

/** Returns a run's pages per second since it began. */
export function averagePace(run: RunTally): number {
  return (endedOf(run) / Math.max(1, run.readAt - run.startedAt)) * SECOND_MS;
}
