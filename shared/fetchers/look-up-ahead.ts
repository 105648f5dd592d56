import { isIP } from 'node:net';
import type { AddressGuard } from './address-guard.ts';
import { within } from './proxies/proxy-timeout.ts';

/** Looks up the host of a URL, for a request that comes soon. Never rejects; resolves after `lookupMs`, or when the signal is aborted. */
export async function lookUpAhead(
  guard: AddressGuard,
  url: string,
  { signal, lookupMs }: { readonly signal: AbortSignal; readonly lookupMs: number },
): Promise<void> {
  const { hostname } = URL.parse(url) ?? { hostname: '' };
  if (hostname === '' || hostname.startsWith('[') || isIP(hostname) !== 0) return;
  const late = (): Error => new Error(`The look-up took longer than ${lookupMs} ms: ${hostname}`);
  await within({ signal, phaseMs: lookupMs }, guard.addressesOf(hostname), late).catch(() => {});
}
