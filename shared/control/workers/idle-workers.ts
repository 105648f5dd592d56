import type { LiveWorker } from '../../ports/roster.ts';
import { SECOND_MS } from '../../task/durations.ts';

/** Whoever has settled something since then may get more at any moment. */
const IDLE_AFTER_MS = 15 * SECOND_MS;

/**
 * Has no worker had anything to do for a while? Those of an earlier version don't say, and are taken to be busy.
 *
 * @param runMs how long the run has been under way: of one that has just begun, workers may have tasks that no beat has named yet
 */
export function haveNothingToDo(
  workers: readonly Pick<LiveWorker, 'inHand' | 'progress' | 'silentMs'>[],
  runMs: number,
): boolean {
  return workers.every(({ inHand, progress, silentMs }) => {
    if (inHand > 0 || progress === undefined || runMs < IDLE_AFTER_MS) return false;
    return (progress.settledMsAgo ?? IDLE_AFTER_MS) + silentMs >= IDLE_AFTER_MS;
  });
}
