import { count } from '../../../shared/control/format.ts';
import { pauseText } from '../../../shared/control/pause-text.ts';
import type { HostOverview, PausedHost } from '../../../shared/ports/host-overview.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { table } from './table.ts';

/** The hosts of all runs, as `status` prints them. */
export interface HostsOfFleet {
  /** Hosts that may be asked now and have something waiting: above what the workers can take, more workers help. */
  readonly due: number;
  readonly paused: readonly PausedHost[];
}

const MOST_PAUSED = 20;

export async function lookAtHosts({ hosts }: { readonly hosts: HostOverview }): Promise<HostsOfFleet> {
  const [due, paused] = await Promise.all([hosts.due(), hosts.paused(MOST_PAUSED)]);
  return { due, paused };
}

export function hostsJson({ due, paused }: HostsOfFleet): object {
  const pausedHosts = paused.map(({ host, pausedMs, reason, byHand, isUnreachable }) => ({
    host,
    reason,
    byHand,
    unreachable: isUnreachable,
    ...(byHand ? {} : { seconds: Math.ceil(pausedMs / 1_000) }),
  }));
  return { dueHosts: due, pausedHosts };
}

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
