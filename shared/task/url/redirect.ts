import { escapedBytes } from './header-url.ts';
import { isOfJoins, takeLogin, withoutCredentialsIn } from './url.ts';

/** The statuses that send a GET elsewhere (RFC 9110 section 15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where an answer redirects to, with the credentials in its URL if there are any; or why it can't be followed. */
export type Redirect = { readonly to: string; readonly login?: string } | { readonly problem: string };

/**
 * Reads an answer as a redirect; nothing if it isn't one. With a missing or empty `Location` it is not a redirect.
 *
 * @param location the header as Node.js gives it: decoded as Latin-1, whatever the server meant. Its bytes go back as they came
 * @param url URL of the request, without credentials, to resolve a relative location
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

/** Excludes the host name `unix`, which got takes for a socket in the file system, and that at which joins wait. */
function isHttp(url: URL): boolean {
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== 'unix' && !isOfJoins(url);
}
