import { takeLogin, withoutCredentials } from './url.ts';

/** The statuses that send a GET elsewhere (RFC 9110 section 15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where an answer sends its client, and the credentials for there that it may name; or why it can't be gone there. */
export type Redirect = { readonly to: string; readonly login?: string } | { readonly problem: string };

/**
 * Reads an answer as a redirect; nothing if it is none. Without a `Location`, or with an empty one, it is an answer like
 * any other.
 *
 * @param location the header as Node.js gives it: header bytes arrive as Latin-1; what servers mean is UTF-8
 * @param url of the request, without credentials, which a relative location is resolved against
 */
export function redirectOf(status: number, location: string | undefined, url: string): Redirect | undefined {
  if (!location || !REDIRECTS.has(status)) return undefined;
  const target = URL.parse(Buffer.from(location, 'latin1').toString(), url);
  if (target === null || !isHttp(target)) {
    return {
      problem: `The redirect leads to a URL that is not http or https: ${withoutCredentials(location).slice(0, 200)}`,
    };
  }
  target.hash = '';
  const login = takeLogin(target);
  return login === undefined ? { to: target.href } : { to: target.href, login };
}

/** got takes the host name `unix` for a socket in the file system. */
function isHttp(url: URL): boolean {
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== 'unix';
}
