import type { Cookie, CookieJar as Jar } from 'tough-cookie';
import type { CookieLine } from '../task/task/cookie-lines.ts';

/** Maximum characters of a cookie's name and value, without attributes. Longer ones are ignored, as in browsers (RFC 6265bis section 5.6). */
const MAX_PAIR_LENGTH = 4_096;
/** Maximum `Set-Cookie` lines read from one answer. */
const MOST_LINES = 50;
/** Maximum cookies in a jar, and their bytes. Beyond either, the site with the most loses its oldest. */
const MOST_COOKIES = 300;
const MOST_BYTES = 131_072;

/** Accepts host names that exist only in tests and intranets. */
const ANY_DOMAIN = { allowSpecialUseDomain: true, ignoreError: true };

/** A cookie together with its jar. */
interface Held {
  readonly jar: Jar;
  readonly cookie: Cookie;
  /** The registrable domain, or the host if it has none. */
  readonly site: string;
  readonly bytes: number;
}

/**
 * The cookies of one session, or of one task, by RFC 6265. A cookie goes only to the hosts it was set for, never to a public suffix, and
 * with `Secure` only over https; as in browsers, http can't replace a `Secure` cookie. Stricter than the RFC, a cookie stays on
 * its port, since another port may be another site. The jar is bounded, and never written to a log, a record or a cache.
 *
 * The library is loaded with the first cookie: most crawls never need it.
 */
export class CookieJar {
  /** Jars by {@link keyOf}. */
  readonly #jars = new Map<string, Jar>();
  readonly #held = new Map<string, Held>();
  #bytes = 0;

  /** Makes the jar of a task from the cookies that its redirects have set. */
  static async of(lines: readonly CookieLine[]): Promise<CookieJar> {
    const jar = new CookieJar();
    for (const [url, line] of lines) await jar.keep(url, [line]);
    return jar;
  }

  /** Stores the cookies in the `Set-Cookie` lines of an answer. Cookies that the URL's host must not set are ignored. */
  async keep(url: string, lines: readonly string[]): Promise<void> {
    const usable = lines.slice(0, MOST_LINES).filter(isOfUsableLength);
    if (usable.length === 0) return;
    const jar = await this.#jarFor(url);
    const { Cookie: Read, getPublicSuffix: registrableDomain } = await import('tough-cookie');
    const { protocol } = new URL(url);
    for (const line of usable) {
      const read = Read.parse(line, { loose: true });
      if (read === undefined || !keepsPrefix(read)) continue;
      if (protocol === 'http:' && this.#isSecure(read.key, jar, url)) continue;
      const cookie = jar.setCookieSync(line, placeOf(url), { ignoreError: true }) ?? ofItsHost(jar, url, read);
      if (cookie === undefined) continue;
      const host = cookie.domain ?? '';
      this.#hold({ jar, cookie, site: registrableDomain(host, ANY_DOMAIN) ?? host }, keyOf(url));
    }
  }

  /** Does the jar hold a `Secure` cookie of this name whose domain overlaps with the URL's host? (RFC 6265bis section 5.7) */
  #isSecure(name: string, jar: Jar, url: string): boolean {
    const { hostname } = placeOf(url);
    return [...this.#held.values()].some(
      ({ jar: its, cookie: { key, secure, domain } }) =>
        its === jar && key === name && secure && (isBelow(hostname, domain ?? '') || isBelow(domain ?? '', hostname)),
    );
  }

  /** Returns the `Cookie` header for a URL; nothing if no cookie matches. */
  headerFor(url: string): string | undefined {
    const jar = this.#jars.get(keyOf(url));
    return jar?.getCookieStringSync(placeOf(url)) || undefined;
  }

  async #jarFor(url: string): Promise<Jar> {
    const key = keyOf(url);
    let jar = this.#jars.get(key);
    if (jar === undefined) {
      // Don't destructure `{ CookieJar: ToughJar }`: TypeScript 7 renames this class to `_a` within itself, and the property of the same name too.
      const tough = await import('tough-cookie');
      // Another call may have made the jar meanwhile.
      jar = this.#jars.get(key) ?? new tough.CookieJar(undefined, { looseMode: true, prefixSecurity: 'silent' });
      this.#jars.set(key, jar);
    }
    return jar;
  }

  #hold({ jar, cookie, site }: Omit<Held, 'bytes'>, jarKey: string): void {
    const { domain, path, key, value } = cookie;
    const name = JSON.stringify([jarKey, domain, path, key]);
    this.#drop(name);
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value);
    this.#held.set(name, { jar, cookie, site, bytes });
    this.#bytes += bytes;
    while (this.#held.size > MOST_COOKIES || this.#bytes > MOST_BYTES) {
      const [oldest, held] = this.#oldestOfLargest(this.#held.size > MOST_COOKIES);
      this.#drop(oldest);
      const { domain: host, path: at, key: called } = held.cookie;
      held.jar.store.removeCookie(host, at, called, () => {});
    }
  }

  /** Returns the oldest cookie of the site with the most cookies, or the most bytes: a site that sets many costs other sites none. */
  #oldestOfLargest(isOfCookies: boolean): readonly [name: string, held: Held] {
    const sizes = new Map<string, number>();
    for (const { site, bytes } of this.#held.values())
      sizes.set(site, (sizes.get(site) ?? 0) + (isOfCookies ? 1 : bytes));
    const most = Math.max(...sizes.values());
    return [...this.#held].find(([, { site }]) => sizes.get(site) === most) as [string, Held];
  }

  #drop(name: string): void {
    this.#bytes -= this.#held.get(name)?.bytes ?? 0;
    this.#held.delete(name);
  }
}

function isBelow(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/**
 * Returns the key of the jar for a URL: its port, and the dot at the end of its host. `a.com.` is another host than `a.com`. The default ports
 * of http and https share a jar.
 */
function keyOf(url: string): string {
  const { hostname, port } = new URL(url);
  return hostname.endsWith('.') ? `${port}.` : port;
}

/**
 * Returns a URL for the library, which finds no cookies for a host with a dot at its end, and decodes the path. A cookie's path is compared
 * with the path as it is requested (RFC 6265 section 5.1.4), so an escape in it is escaped once more.
 */
function placeOf(url: string): URL {
  const place = new URL(url);
  place.pathname = place.pathname.replaceAll('%', '%25');
  place.hostname = place.hostname.replace(/\.$/, '');
  return place;
}

/** Prefixes by which the name of a cookie promises its server how it was set. */
const PREFIX = /^__(?:secure|host-http|host|http)-/i;

/**
 * Does a cookie keep the promise of its name's prefix, in upper or lower case? For a cookie without a name, a prefix of its value is
 * refused, since it would be sent as if the value were its name (RFC 6265bis section 5.7, and draft-ietf-httpbis-layered-cookies).
 */
function keepsPrefix({ key, value, secure, httpOnly, domain, path }: Cookie): boolean {
  const prefix = PREFIX.exec(key === '' ? value : key)?.[0].toLowerCase();
  if (prefix === undefined) return true;
  const isOfHost = !prefix.startsWith('__host-') || (domain === null && path === '/');
  return key !== '' && secure && isOfHost && (httpOnly || !prefix.endsWith('http-'));
}

/** Is there a name or a value, and are both together not too long? A cookie with neither is ignored (RFC 6265bis section 5.7). */
function isOfUsableLength(line: string): boolean {
  const [pair = ''] = line.split(';', 1);
  const { length } = pair.trim().replace('=', '').trim();
  return length > 0 && length <= MAX_PAIR_LENGTH;
}

/**
 * Sets a refused cookie if its domain is the host itself. A host that is a public suffix, such as `wiki` or `github.io`, may
 * set cookies for itself alone (RFC 6265 section 5.3, step 5).
 */
function ofItsHost(jar: Jar, url: string, cookie: Cookie): Cookie | undefined {
  if (domainOf(cookie) !== placeOf(url).hostname) return undefined;
  cookie.domain = null;
  return jar.setCookieSync(cookie, placeOf(url), { ignoreError: true });
}

/** Returns the domain of a cookie. The library throws for a name that no host can have, such as `xn--é`. */
function domainOf(cookie: Cookie): string | null | undefined {
  try {
    return cookie.cdomain();
  } catch {
    return undefined;
  }
}
