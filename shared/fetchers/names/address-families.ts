import type { LookupAddress } from 'node:dns';
import { networkInterfaces } from 'node:os';

/** The versions of IP that an address can have. */
export type Family = 4 | 6;

const BOTH: readonly Family[] = [6, 4];

/**
 * The versions of IP that this machine can use, IPv6 first: those of its addresses beyond loopback and link-local. Both if it
 * has no such address. The same is asked of the system's resolver by `AI_ADDRCONFIG` (getaddrinfo(3)).
 */
export function usableFamilies(): readonly Family[] {
  const outward = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ family }) => family);
  const usable = BOTH.filter((family) => outward.includes(`IPv${family}`));
  return usable.length === 0 ? BOTH : usable;
}

/** Those of the addresses that can be used; all if none can. */
export function usableOf(addresses: readonly LookupAddress[], families: readonly Family[]): readonly LookupAddress[] {
  const usable = addresses.filter(({ family }) => families.some((each) => each === family));
  return usable.length === 0 ? addresses : usable;
}
