import type { LiveWorker } from '../ports/roster.ts';
import { SECOND_MS } from '../task/durations.ts';

/** Whoever has settled something since then may get more at any moment. */
const IDLE_AFTER_MS = 15 * SECOND_MS;

/** Has no worker had anything to do for a while? Those of an earlier version don't say, and are taken to be busy. */
export function haveNothingToDo(workers: readonly Pick<LiveWorker, 'inHand' | 'progress' | 'silentMs'>[]): boolean {
  return workers.every(({ inHand, progress, silentMs }) => {
    if (inHand > 0 || progress === undefined) return false;
    return (progress.settledMsAgo ?? IDLE_AFTER_MS) + silentMs >= IDLE_AFTER_MS;
  });
}
