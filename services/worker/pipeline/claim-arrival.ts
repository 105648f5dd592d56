import { type Claims, nameOf } from '../../../shared/ports/frontier.ts';
import type { Visit } from './visit.ts';

/** Claims the URL that the task was redirected to: its page stands for both URLs. */
export async function claimArrival(
  { task, release, run, known }: Visit,
  mark: string,
  frontier: Claims,
): Promise<'claimed' | 'taken' | 'stale'> {
  if (mark === task.mark || release === 0) return 'claimed';
  // An earlier run claimed it for this same task, and such marks are kept.
  if (mark === known?.claimed && run.options.dedup === 'ever') return 'claimed';
  const claim = await frontier.claim(task.run, nameOf({ release, task }), mark);
  // An owner that a replay crawls once more has claimed it the first time.
  return claim === 'taken' && mark === task.replayed?.claimed ? 'claimed' : claim;
}
