import type { LookupAddress } from 'node:dns';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** The versions of IP that an address can have. */
export type Family = 4 | 6;

const BOTH: readonly Family[] = [6, 4];

/**
 * Returns the versions of IP that this machine can use, IPv6 first: those of its addresses beyond loopback and link-local. Returns both if
 * it has no such address or the process may not list them, as in some sandboxes. `AI_ADDRCONFIG` (getaddrinfo(3)) makes the system's
 * resolver do the same.
 */
export function usableFamilies(read = networkInterfaces): readonly Family[] {
  const outward = addressesOf(read)
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ family }) => family);
  const usable = BOTH.filter((family) => outward.includes(`IPv${family}`));
  return usable.length === 0 ? BOTH : usable;
}

function addressesOf(read: typeof networkInterfaces): readonly NetworkInterfaceInfo[] {
  try {
    return Object.values(read()).flatMap((addresses) => addresses ?? []);
  } catch {
    return [];
  }
}

/** Returns those of the addresses that can be used, or all if none can. */
export function usableOf(addresses: readonly LookupAddress[], families: readonly Family[]): readonly LookupAddress[] {
  const usable = addresses.filter(({ family }) => families.some((each) => each === family));
  return usable.length === 0 ? addresses : usable;
}
