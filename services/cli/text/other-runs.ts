import { count, counted } from '../../../shared/control/format.ts';
import type { RunList } from '../../../shared/control/run-list.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';

/** A line about the runs that a list leaves out; none if it has them all. */
export function otherRunsLines({ views, counts, damaged }: RunList): string[] {
  const others = counts.known - views.length - damaged.length;
  if (others <= 0) return [];
  const openListed = views.filter(({ progress }) => progress.endedAt === undefined).length;
  const open = Math.min(others, counts.open - openListed - damaged.length);
  const ofThem = open > 0 ? `, ${count(open)} of them open` : '';
  return [`… and ${counted(others, 'older run')}${ofThem}: ${TRAWL} status RUN`];
}
