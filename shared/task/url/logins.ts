import { hash } from 'node:crypto';
import { unescape as unescaped } from 'node:querystring';
import { originOf } from './url.ts';

/**
 * Credentials from URLs, by origin: `user:password` as written. They are removed from a URL when it is read, travel beside
 * it, are sent to that origin only, and are never shown.
 */
export type Logins = Readonly<Record<string, string>>;

/** Returns the login for a URL; nothing if there is none for its origin. */
export function loginFor(url: string, logins: Logins | undefined): string | undefined {
  if (logins === undefined) return undefined;
  const origin = originOf(url);
  return Object.hasOwn(logins, origin) ? logins[origin] : undefined;
}

/** Adds the login of a URL. It replaces an older one for the same origin. */
export function withLogin(logins: Logins | undefined, url: string, login: string | undefined): Logins | undefined {
  return login === undefined ? logins : { ...logins, [originOf(url)]: login };
}

/** Returns an object with a `logins` field, or without it if there are none. */
export function loginsField(logins: Logins | undefined): { readonly logins?: Logins } {
  return logins === undefined ? {} : { logins };
}

/** Makes the `Authorization` header for a login (Basic, RFC 7617), in UTF-8. */
export function authorizationOf(login: string): string {
  const colon = login.indexOf(':');
  const [user, password] = colon < 0 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)];
  return `Basic ${Buffer.from(`${unescaped(user)}:${unescaped(password)}`).toString('base64')}`;
}

/**
 * Makes the key of a URL that is requested with a login: with another login, or none, the URL is another page. Six digits of a
 * digest tell logins apart, but are too few to find a password by. No other key contains a `#`.
 */
export function keyWithLogin(key: string, login: string | undefined): string {
  return login === undefined ? key : `${key}#${hash('sha256', `${key} ${login}`).slice(0, 6)}`;
}
