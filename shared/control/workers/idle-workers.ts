import type { LiveWorker } from '../../ports/roster.ts';
import { SECOND_MS } from '../../task/durations.ts';

/** A worker that settled a task more recently than this may get more at any moment. */
const IDLE_AFTER_MS = 15 * SECOND_MS;

/**
 * Have all workers been idle for a while? Workers of an earlier version don't report that, and count as busy.
 *
 * @param runMs age of the run: workers may have tasks of a new run that no heartbeat has reported yet
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
