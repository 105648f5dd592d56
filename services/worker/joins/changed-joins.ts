import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { JoinPlan } from '../../../shared/task/group/plan.ts';

/**
 * Says which joins, and which steps of their groups, a crawler has otherwise than a run that goes on with it: a run keeps those that it
 * opened with.
 */
export function warnOfChangedJoins(
  run: string,
  own: JoinPlan | undefined,
  now: JoinPlan | undefined,
  log: Pick<Logger, 'warn'>,
): void {
  const changed = [...differing(own?.joins, now?.joins), ...differing(own?.owners, now?.owners)];
  if (changed.length === 0) return;
  log.warn(
    { run, changed: [...new Set(changed)].join(', ') },
    'the run keeps the joins and groups that it was begun with; what the crawler has changed of them holds for its next run',
  );
}

/** The names of what differs, or is in one of both only. */
function differing(own: Readonly<Record<string, unknown>> = {}, now: Readonly<Record<string, unknown>> = {}): string[] {
  return Object.keys({ ...now, ...own }).filter((name) => !isDeepStrictEqual(own[name], now[name]));
}
