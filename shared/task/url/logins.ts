import { hash } from 'node:crypto';
import { unescape as unescaped } from 'node:querystring';
import { originOf } from './url.ts';

/**
 * What URLs had in front of their host, `user:password` as it was written, by the origin that it is for. It leaves a URL where
 * that is taken in, travels beside it, is sent to that origin only, and is shown nowhere.
 */
export type Logins = Readonly<Record<string, string>>;

/** The login for a URL; nothing if there is none for its origin. */
export function loginFor(url: string, logins: Logins | undefined): string | undefined {
  if (logins === undefined) return undefined;
  const origin = originOf(url);
  return Object.hasOwn(logins, origin) ? logins[origin] : undefined;
}

/** The same logins, and one that a URL had. The newer one of an origin counts. */
export function withLogin(logins: Logins | undefined, url: string, login: string | undefined): Logins | undefined {
  return login === undefined ? logins : { ...logins, [originOf(url)]: login };
}

/** As a field that is left out when there is none. */
export function loginsField(logins: Logins | undefined): { readonly logins?: Logins } {
  return logins === undefined ? {} : { logins };
}

/** The `Authorization` that a login stands for (RFC 7617), in UTF-8. */
export function authorizationOf(login: string): string {
  const colon = login.indexOf(':');
  const [user, password] = colon < 0 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)];
  return `Basic ${Buffer.from(`${unescaped(user)}:${unescaped(password)}`).toString('base64')}`;
}

/**
 * What a URL is compared by when it is asked for with a login: another page than without, or with another. Six digits of a
 * digest tell logins apart, and are too few to find a password by. No key has a `#` of its own.
 */
export function keyWithLogin(key: string, login: string | undefined): string {
  return login === undefined ? key : `${key}#${hash('sha256', `${key} ${login}`).slice(0, 6)}`;
}
