import type { HostOverview, PausedHost } from '../../ports/host-overview.ts';

/** The hosts of all runs, as `status` shows them. */
export interface HostsOfFleet {
  /** Hosts with waiting tasks that may be asked now. If there are more than the workers can handle, more workers help. */
  readonly due: number;
  /** The hosts paused longest, at most {@link MOST_PAUSED}. */
  readonly paused: readonly PausedHost[];
  /** Number of paused hosts, listed or not. */
  readonly pausedCount: number;
}

const MOST_PAUSED = 20;

export async function lookAtHosts({ hosts }: { readonly hosts: HostOverview }): Promise<HostsOfFleet> {
  const [due, paused, count] = await Promise.all([hosts.due(), hosts.paused(MOST_PAUSED), hosts.pausedCount()]);
  // A host can be paused between the two reads.
  return { due, paused, pausedCount: Math.max(paused.length, count) };
}

export function hostsJson({ due, paused, pausedCount }: HostsOfFleet): object {
  const pausedHosts = paused.map(({ host, pausedMs, reason, byHand, isUnreachable }) => ({
    host,
    reason,
    byHand,
    unreachable: isUnreachable,
    ...(byHand ? {} : { seconds: Math.ceil(pausedMs / 1_000) }),
  }));
  return { dueHosts: due, pausedHostCount: pausedCount, pausedHosts };
}
