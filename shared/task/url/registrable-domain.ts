import { getDomain } from 'tldts';

/**
 * Returns the registered domain of a host name, by the public suffix list: `example.co.uk` for `www.example.co.uk`. On services that
 * give each user a subdomain, such as `github.io`, that subdomain counts as one. Anything else, such as an address, is returned as is.
 *
 * The list takes a fifth of a second to load, so import this file only where it is needed.
 */
export function registrableDomainOf(hostname: string): string {
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}
