import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { JoinPlan } from '../../../shared/task/group/plan.ts';

/** Warns about joins, and steps of their groups, that have changed in the crawler since the run was opened: a resumed run keeps its own. */
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
    'the run keeps the joins and groups that it was begun with; the changes in the crawler apply to its next run',
  );
}

/** Returns the names whose values differ, or that only one of the two has. */
function differing(own: Readonly<Record<string, unknown>> = {}, now: Readonly<Record<string, unknown>> = {}): string[] {
  return Object.keys({ ...now, ...own }).filter((name) => !isDeepStrictEqual(own[name], now[name]));
}
