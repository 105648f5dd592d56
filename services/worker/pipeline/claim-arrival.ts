import { type Claims, nameOf } from '../../../shared/ports/frontier/frontier.ts';
import type { Ending, Visit } from './visit.ts';

/** Returns whether the page with this mark is another task's. It need not be fetched for this one, whose claim would be refused. */
export async function isKnown(
  { task, release, run, known }: Visit,
  mark: string,
  frontier: Pick<Claims, 'isTaken'>,
): Promise<boolean> {
  if (mark === task.mark || release === 0 || mark === task.replayed?.claimed) return false;
  if (mark === known?.claimed && run.options.dedup === 'ever') return false;
  return await frontier.isTaken(task.run, nameOf({ release, task }), mark);
}

/** Returns the ending of a task whose page is another task's. */
export function knownAlready(url: string): Ending {
  const detail = `redirected to ${url}, which is known`;
  return { outcome: { kind: 'skipped', reason: 'duplicate', detail }, hostAnswered: true };
}

/** Claims the URL that the task was redirected to, so that its page stands for both URLs. */
export async function claimArrival(
  { task, release, run, known }: Visit,
  mark: string,
  frontier: Claims,
): Promise<'claimed' | 'taken' | 'stale'> {
  if (mark === task.mark || release === 0) return 'claimed';
  // An earlier run claimed it for this same task, and such marks are kept.
  if (mark === known?.claimed && run.options.dedup === 'ever') return 'claimed';
  const claim = await frontier.claim(task.run, nameOf({ release, task }), mark);
  // The owner that this replay crawls again claimed it the first time.
  return claim === 'taken' && mark === task.replayed?.claimed ? 'claimed' : claim;
}
