import { resumeHostCommand } from '../../../shared/control/bottleneck.ts';
import { count } from '../../../shared/control/format.ts';
import type { HostsOfFleet } from '../../../shared/control/hosts/fleet-hosts.ts';
import { pauseText } from '../../../shared/control/hosts/pause-text.ts';
import { table } from './table.ts';

export function hostLines({ due, paused, pausedCount }: HostsOfFleet, isLocal: boolean): string[] {
  const lines = [`Due hosts: ${count(due)}`];
  if (paused.length === 0) return lines;
  const rows = paused.map(({ host, pausedMs, reason, byHand, isUnreachable }) => [
    `  ${host}`,
    pauseText({ ms: pausedMs, reason, byHand, isUnreachable }),
    byHand ? resumeHostCommand(host, isLocal) : '',
  ]);
  const others = pausedCount - paused.length;
  const more = others > 0 ? [`  … and ${count(others)} more`] : [];
  return [...lines, `Paused hosts: ${count(pausedCount)}`, ...table(rows), ...more];
}
