import { systemClock } from '../runtime/clock.ts';
import type { Settings } from '../settings/table.ts';

/** How this process looks up host names: a fetcher's targets, and its proxies. */
export async function openNames({ dnsServers }: Settings): Promise<import('../fetchers/names/names.ts').Names> {
  const { Names } = await import('../fetchers/names/names.ts');
  return new Names({ clock: systemClock, servers: dnsServers });
}
