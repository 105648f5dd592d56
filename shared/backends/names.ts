import { systemClock } from '../runtime/clock.ts';
import type { Settings } from '../settings/table.ts';

/** Opens the look-up of host names for this process: those of a fetcher's targets, and of its proxies. */
export async function openNames({ dnsServers }: Settings): Promise<import('../fetchers/names/names.ts').Names> {
  const { Names } = await import('../fetchers/names/names.ts');
  return new Names({ clock: systemClock, servers: dnsServers });
}
