import { isIP } from 'node:net';
import { hostname } from 'node:os';

/**
 * Is this the name of a host that the API goes by? A page of a stranger whose name was made to lead here comes with that name: addresses,
 * `localhost` and the machine's own name can't be had by strangers, and others are named by `API_HOSTS`.
 */
export function isOwnHost(header: string | undefined, known: readonly string[]): boolean {
  const name = nameOf(header);
  if (name === undefined) return false;
  const bare = name.replace(/^\[|\]$/g, '');
  return name === 'localhost' || isIP(bare) > 0 || name === hostname().toLowerCase() || known.includes(name);
}

/** Does a browser send this from a page of the API itself? Programs other than browsers name no origin. */
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

/** A host name without its port, in lower case. */
function nameOf(header: string | undefined): string | undefined {
  const url = header === undefined ? null : URL.parse(`http://${header}/`);
  const isPlain = url !== null && url.pathname === '/' && url.username === '' && url.search === '' && url.hash === '';
  return isPlain ? url.hostname : undefined;
}
