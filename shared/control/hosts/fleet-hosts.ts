import type { HostOverview, PausedHost } from '../../ports/host-overview.ts';

/** The hosts of all runs, as `status` shows them. */
export interface HostsOfFleet {
  /** Hosts with waiting tasks that may be asked now. If there are more than the workers can handle, more workers help. */
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
