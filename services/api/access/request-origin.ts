import { isIP } from 'node:net';
import { hostname } from 'node:os';

/**
 * Tells whether a `Host` header names this API. This stops DNS rebinding, where a stranger's page reaches the API under the stranger's own
 * name. IP addresses, `localhost` and the machine's own name can't belong to a stranger; `API_HOSTS` lists the others.
 */
export function isOwnHost(header: string | undefined, known: readonly string[]): boolean {
  const name = nameOf(header);
  if (name === undefined) return false;
  const bare = name.replace(/^\[|\]$/g, '');
  return name === 'localhost' || isIP(bare) > 0 || name === hostname().toLowerCase() || known.includes(name);
}

/** Tells whether a request comes from a page of the API itself, or from a program other than a browser, which sends no origin. */
export function isOwnOrigin(headers: {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}): boolean {
  const { host, origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (origin === undefined) return true;
  return URL.parse(origin)?.host === host?.toLowerCase();
}

/** Returns the host name without its port, in lower case. */
function nameOf(header: string | undefined): string | undefined {
  const url = header === undefined ? null : URL.parse(`http://${header}/`);
  const isPlain = url !== null && url.pathname === '/' && url.username === '' && url.search === '' && url.hash === '';
  return isPlain ? url.hostname : undefined;
}
