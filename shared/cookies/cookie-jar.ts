import type { Cookie, CookieJar as Jar } from 'tough-cookie';
import type { CookieLine } from '../task/task/cookie-lines.ts';

/** A cookie whose name and value are longer is ignored, as browsers do, whatever its attributes take (RFC 6265bis section 5.6). */
const MAX_PAIR_LENGTH = 4_096;
/** Lines that one answer may have. */
const MOST_LINES = 50;
/** Cookies in a jar, and their bytes; beyond that the site that has most of them loses its oldest. */
const MOST_COOKIES = 300;
const MOST_BYTES = 131_072;

/** Names that only a test or an intranet has are names, too. */
const ANY_DOMAIN = { allowSpecialUseDomain: true, ignoreError: true };

/** A cookie in a jar. */
interface Held {
  readonly jar: Jar;
  readonly cookie: Cookie;
  /** Its registrable domain, or its host, which has none. */
  readonly site: string;
  readonly bytes: number;
}

/**
 * Cookies of one session, or of one task, as RFC 6265 has them: each goes to the hosts that it was set for, never to a public
 * suffix, and one that says `Secure` to https only; what http sets takes the place of none of these, as in browsers. Stricter than
 * the RFC, a cookie stays on its port: another port may be another site. Bounded; never written to a log, a record or a cache.
 *
 * The library is loaded with the first cookie: most crawls see none that matters.
 */
export class CookieJar {
  /** By port; the default ports of http and https are one. */
  readonly #jars = new Map<string, Jar>();
  readonly #held = new Map<string, Held>();
  #bytes = 0;

  /** The jar of a task that met these cookies on its redirects. */
  static async of(lines: readonly CookieLine[]): Promise<CookieJar> {
    const jar = new CookieJar();
    for (const [url, line] of lines) await jar.keep(url, [line]);
    return jar;
  }

  /** Takes the `Set-Cookie` lines of an answer; those that the URL's host may not set are ignored. */
  async keep(url: string, lines: readonly string[]): Promise<void> {
    const usable = lines.slice(0, MOST_LINES).filter((line) => pairLength(line) <= MAX_PAIR_LENGTH);
    if (usable.length === 0) return;
    const jar = await this.#jarFor(url);
    const { Cookie: Read, getPublicSuffix: registrableDomain } = await import('tough-cookie');
    const { port, protocol } = new URL(url);
    for (const line of usable) {
      const read = Read.parse(line, { loose: true });
      if (read === undefined || !keepsPrefix(read)) continue;
      if (protocol === 'http:' && this.#isSecure(read.key, jar, url)) continue;
      const cookie = jar.setCookieSync(line, url, { ignoreError: true }) ?? ofItsHost(jar, url, read);
      if (cookie === undefined) continue;
      const host = cookie.domain ?? '';
      this.#hold({ jar, cookie, site: registrableDomain(host, ANY_DOMAIN) ?? host }, port);
    }
  }

  /** Is there a cookie of this name that https has set, and that hosts of the URL's site would get? (RFC 6265bis section 5.7) */
  #isSecure(name: string, jar: Jar, url: string): boolean {
    const { hostname } = new URL(url);
    return [...this.#held.values()].some(
      ({ jar: its, cookie: { key, secure, domain } }) =>
        its === jar && key === name && secure && (isBelow(hostname, domain ?? '') || isBelow(domain ?? '', hostname)),
    );
  }

  /** The `Cookie` header for a URL; nothing if no cookie is for it. */
  headerFor(url: string): string | undefined {
    const jar = this.#jars.get(new URL(url).port);
    return jar?.getCookieStringSync(url) || undefined;
  }

  async #jarFor(url: string): Promise<Jar> {
    const { port } = new URL(url);
    let jar = this.#jars.get(port);
    if (jar === undefined) {
      // Not `{ CookieJar: ToughJar }`: TypeScript 7 renames this class within itself, `_a`, and the property of the same name with it.
      const tough = await import('tough-cookie');
      // Another may have made it meanwhile.
      jar = this.#jars.get(port) ?? new tough.CookieJar(undefined, { looseMode: true, prefixSecurity: 'silent' });
      this.#jars.set(port, jar);
    }
    return jar;
  }

  #hold({ jar, cookie, site }: Omit<Held, 'bytes'>, port: string): void {
    const { domain, path, key, value } = cookie;
    const name = JSON.stringify([port, domain, path, key]);
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

  /** The oldest cookie of the site that has most cookies, or most bytes of them: a site that sets many costs the others none. */
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

/** What a name promises its server of a cookie. */
const PREFIX = /^__(?:secure|host)-/i;

/**
 * Does a cookie keep what its name promises, in whatever case that is written? One without a name promises nothing, but would be sent as if
 * its value were a name (RFC 6265bis section 5.7).
 */
function keepsPrefix({ key, value, secure, domain, path }: Cookie): boolean {
  const [prefix] = PREFIX.exec(key === '' ? value : key) ?? [];
  if (prefix === undefined) return true;
  const isOfHost = prefix.toLowerCase() === '__secure-' || (domain === null && path === '/');
  return key !== '' && secure && isOfHost;
}

/** Characters of a cookie's name and value together. */
function pairLength(line: string): number {
  const [pair = ''] = line.split(';', 1);
  return pair.trim().replace('=', '').length;
}

/**
 * Sets a cookie that was refused, if its domain is the host itself: one that is a public suffix, such as `wiki` or `github.io`, may
 * set it for itself alone (RFC 6265 section 5.3, step 5).
 */
function ofItsHost(jar: Jar, url: string, cookie: Cookie): Cookie | undefined {
  if (domainOf(cookie) !== new URL(url).hostname) return undefined;
  cookie.domain = null;
  return jar.setCookieSync(cookie, url, { ignoreError: true });
}

/** The library throws for a name that no host can have, such as `xn--é`. */
function domainOf(cookie: Cookie): string | null | undefined {
  try {
    return cookie.cdomain();
  } catch {
    return undefined;
  }
}
