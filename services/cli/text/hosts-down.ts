import { count } from '../../../shared/control/format.ts';
import type { HostsDown, RunProgress } from '../../../shared/ports/runs.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';

/**
 * Names the hosts that a run has given up and why, and says which flag changes that and where their URLs are.
 *
 * @param recordsFlag further flags that `records RUN` needs to find the records, such as ` --output-dir x`
 */
export function hostsDownLines({ run, hostsDown }: Pick<RunProgress, 'run' | 'hostsDown'>, recordsFlag = ''): string[] {
  const { count: all, named } = hostsDown;
  if (all === 0) return [];
  const others = all > named.length ? ` and ${count(all - named.length)} more` : '';
  const listed = named.map((each) => `${each.host} (${reasonText(each)})`).join(', ');
  return [
    `${all === 1 ? '1 host was' : `${count(all)} hosts were`} given up: ${listed}${others}.`,
    `A host that never answers is given up after a minute, others after --host-give-up; ${TRAWL} records ${run}${recordsFlag} --failed lists their URLs.`,
  ];
}

function reasonText({ kind, reason }: HostsDown['named'][number]): string {
  if (kind === 'silent') return `never answered: ${reason}`;
  return kind === 'outage'
    ? `${reason}, nor from any other: the network may have been down`
    : reason || 'nothing but errors';
}
