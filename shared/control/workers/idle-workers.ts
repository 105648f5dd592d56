import type { LiveWorker } from '../../ports/roster.ts';
import { SECOND_MS } from '../../task/durations.ts';

/** A worker that settled a task more recently than this may get more at any moment. */
const IDLE_AFTER_MS = 15 * SECOND_MS;

/**
 * Is this worker idle: nothing in hand, no task settled for a while, and no shortage? It may be that no run has work, or that all hosts
 * wait for their next turn. A worker of an earlier version doesn't report its progress, and counts as busy.
 */
export function isWithoutWork(
  worker: Pick<LiveWorker, 'inHand' | 'progress' | 'silentMs' | 'state' | 'bound'>,
): boolean {
  return worker.state === 'consuming' && worker.bound === 'politeness' && isIdle(worker);
}

/**
 * Have all workers been idle for a while? Workers of an earlier version don't report that, and count as busy.
 *
 * @param runMs age of the run: workers may have tasks of a new run that no heartbeat has reported yet
 */
export function haveNothingToDo(
  workers: readonly Pick<LiveWorker, 'inHand' | 'progress' | 'silentMs'>[],
  runMs: number,
): boolean {
  return workers.every((worker) => runMs >= IDLE_AFTER_MS && isIdle(worker));
}

function isIdle({ inHand, progress, silentMs }: Pick<LiveWorker, 'inHand' | 'progress' | 'silentMs'>): boolean {
  if (inHand > 0 || progress === undefined) return false;
  return (progress.settledMsAgo ?? IDLE_AFTER_MS) + silentMs >= IDLE_AFTER_MS;
}
