import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';

/** Addresses by name, in the order of the file. */
export type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

/** The file in which Unix keeps local names, and Docker those of `extra_hosts`. */
export const HOSTS_PATH = '/etc/hosts';

/** Reads a hosts file (hosts(5)). Lines that don't begin with an address are left out; a name on several lines gets all their addresses. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '');
      const known = hosts.get(key) ?? [];
      if (!known.some((other) => other.address === address)) known.push({ address, family });
      hosts.set(key, known);
    }
  }
  return hosts;
}
