import type { AddressGuard } from '../address-guard.ts';
import { type ProxyTimeout, within } from './proxy-timeout.ts';

/** Returns an address of the URL's host that the address guard allows, before a proxy is asked. Prefers IPv4, since few proxies can use IPv6. */
export async function judgedAddress(
  guard: AddressGuard,
  { hostname }: URL,
  proxyTimeout: ProxyTimeout,
): Promise<string> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const late = (): Error => Object.assign(new Error(`looking up ${host} took too long`), { code: 'ETIMEDOUT' });
  const addresses = await within(proxyTimeout, guard.addressesOf(host), late);
  const best = addresses.find(({ family }) => family === 4) ?? addresses[0];
  if (best === undefined) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
  return best.address;
}
