import { getDomain } from 'tldts';

/**
 * The domain that somebody registered, by the public suffix list: `example.co.uk` for `www.example.co.uk`. Each user of a
 * host that gives names away, `github.io` say, has one. A name without one, an address say, stands for itself.
 *
 * The list takes a fifth of a second to load: import it where it is needed.
 */
export function registrableDomainOf(hostname: string): string {
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}
