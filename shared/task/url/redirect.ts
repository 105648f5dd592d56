import { escapedBytes } from './header-url.ts';
import { isOfJoins, takeLogin, withoutCredentialsIn } from './url.ts';

/** The statuses that send a GET elsewhere (RFC 9110 section 15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The target of a redirect, with the credentials from its URL if it has any; or the reason why it can't be followed. */
export type Redirect = { readonly to: string; readonly login?: string } | { readonly problem: string };

/**
 * Reads an answer as a redirect; nothing if it isn't one. An answer with a missing or empty `Location` is not a redirect.
 *
 * @param location the header as Node.js gives it: decoded as Latin-1, whatever the server meant. Its bytes are sent back unchanged
 * @param url URL of the request, without credentials, against which a relative location is resolved
 */
export function redirectOf(status: number, location: string | undefined, url: string): Redirect | undefined {
  if (!location || !REDIRECTS.has(status)) return undefined;
  const target = URL.parse(escapedBytes(location), url);
  if (target === null || !isHttp(target)) {
    return {
      problem: `The redirect leads to a URL that is not http or https: ${withoutCredentialsIn(location).slice(0, 200)}`,
    };
  }
  target.hash = '';
  const login = takeLogin(target);
  return login === undefined ? { to: target.href } : { to: target.href, login };
}

/** Is this an http URL that can be requested? Not the host `unix`, which got takes for a socket file, nor the pseudo host of joins. */
function isHttp(url: URL): boolean {
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== 'unix' && !isOfJoins(url);
}
