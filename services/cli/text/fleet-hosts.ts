import type { HostsOfFleet } from '../../../shared/control/fleet-hosts.ts';
import { count } from '../../../shared/control/format.ts';
import { pauseText } from '../../../shared/control/pause-text.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { table } from './table.ts';

export function hostLines({ due, paused }: HostsOfFleet): string[] {
  const lines = [`Due hosts: ${count(due)}`];
  if (paused.length === 0) return lines;
  const rows = paused.map(({ host, pausedMs, reason, byHand, isUnreachable }) => [
    `  ${host}`,
    pauseText({ ms: pausedMs, reason, byHand, isUnreachable }),
    byHand ? `${TRAWL} resume --host ${host}` : '',
  ]);
  return [...lines, 'Paused hosts:', ...table(rows)];
}
