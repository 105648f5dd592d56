/** Why a text isn't a URL that can be crawled, as the end of a sentence. */
export type UrlProblem = string;

/** A URL that can be fetched, with the two names that the rest of the program knows it by. */
export interface CrawlUrl {
  /** What is fetched: the WHATWG serialisation of the URL as it was written, without its fragment and its credentials. */
  readonly href: string;
  /**
   * What is compared: `href` after RFC 3986 section 6.2.2, so that two spellings of one URL are one task. Never fetched:
   * a server may tell two equivalent spellings apart.
   */
  readonly canonical: string;
  /** The politeness key: host name, with the port if it isn't the scheme's own. `http` and `https` share one. */
  readonly host: string;
  /** Its credentials, `user:password` as serialised, if it had any; see `logins.ts`. */
  readonly login?: string;
}

/** Longer URLs are malformed: no server has to take them (RFC 9110 section 4.1 asks for 8 000 octets). */
export const MAX_URL_LENGTH = 8192;

/** Reads an absolute URL. Only `http` and `https` can be crawled. */
export function readUrl(text: string): CrawlUrl | { readonly problem: UrlProblem } {
  const trimmed = text.trim();
  if (trimmed === '') return { problem: 'it is empty' };
  if (trimmed.length > MAX_URL_LENGTH) return { problem: `it is longer than ${MAX_URL_LENGTH} characters` };
  const url = URL.parse(trimmed);
  if (url === null) {
    return { problem: /^[a-z][a-z0-9+.-]*:/i.test(trimmed) ? 'it is not a valid URL' : 'it has no scheme' };
  }
  return fromUrl(url);
}

/**
 * Resolves a link found in a page, as the WHATWG URL Standard does, and drops its fragment and its credentials. Nothing, if it
 * can't be crawled.
 */
export function resolveLink(link: string, base: LinkBase): string | undefined {
  if (PLAIN_PATH.test(link) && !DOTS.test(link)) return base.origin + link;
  return resolveUrl(link, base)?.href;
}

/** The same, with all that is known of it. */
export function resolveUrl(link: string, base: LinkBase): CrawlUrl | undefined {
  const url = URL.parse(link, base.href);
  if (url === null) return undefined;
  const read = fromUrl(url);
  return 'problem' in read ? undefined : read;
}

/** What the links of a page are relative to. */
export interface LinkBase {
  readonly href: string;
  /** Scheme and host of `href`, up to its path. */
  readonly origin: string;
}

/** A serialised URL without credentials as a base for links. */
export function linkBase(href: string): LinkBase {
  return { href, origin: originOf(href) };
}

/** The origin of a serialised URL without credentials. */
export function originOf(href: string): string {
  const start = href.indexOf('/', href.indexOf('//') + 2);
  return start < 0 ? href : href.slice(0, start);
}

/**
 * Most links are paths that the URL Standard leaves as they are: only characters that are never escaped, no dot segments,
 * no second slash that would begin a host. For those, a page of thirty links needs no parser.
 */
const PLAIN_PATH = /^\/(?!\/)[A-Za-z0-9\-_.~/?=&+,;:@!$()*%]{0,2000}$/;
/** Dot segments, escaped or not, and escapes that are none. */
const DOTS = /\/\.|\/%2e/i;

/** `true` for a result of {@link readUrl} that isn't a URL. */
export function isProblem(read: CrawlUrl | { readonly problem: UrlProblem }): read is { readonly problem: UrlProblem } {
  return 'problem' in read;
}

function fromUrl(url: URL): CrawlUrl | { readonly problem: UrlProblem } {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { problem: `its scheme is ${url.protocol.slice(0, -1)}, not http or https` };
  }
  const login = takeLogin(url);
  let { href } = url;
  const fragment = href.indexOf('#');
  if (fragment >= 0) href = href.slice(0, fragment);
  if (href.length > MAX_URL_LENGTH) return { problem: `it is longer than ${MAX_URL_LENGTH} characters` };
  const read = { href, canonical: canonicalOf(href), host: url.host };
  return login === undefined ? read : { ...read, login };
}

/** Takes the credentials off a URL, and returns them as they stood in it. */
export function takeLogin(url: URL): string | undefined {
  if (!url.href.includes('@')) return undefined;
  const { username, password } = url;
  if (username === '' && password === '') return undefined;
  url.username = '';
  url.password = '';
  return password === '' ? username : `${username}:${password}`;
}

/**
 * The canonical form of a WHATWG serialisation: percent-escapes of unreserved characters decoded, the others in upper
 * case (RFC 3986 sections 6.2.2.1 and 6.2.2.2). Case of scheme and host, default port and dot segments are done already.
 * The canonical form of a canonical form is itself: a digit behind a broken escape, as in `/%4%41`, stays encoded, since
 * decoded it would make the escape whole.
 */
export function canonicalOf(href: string): string {
  if (!href.includes('%')) return href;
  return href.replace(/%([0-9a-f]{2})/gi, (encoded, hex: string, at: number) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    if (!/[A-Za-z0-9\-._~]/.test(character)) return encoded.toUpperCase();
    return HEX_DIGIT.test(character) && isBehindBrokenEscape(href, at) ? encoded : character;
  });
}

/** Is what stands there right behind a `%`, or a `%` and one digit? */
function isBehindBrokenEscape(href: string, at: number): boolean {
  const before = href[at - 1] ?? '';
  return before === '%' || (href[at - 2] === '%' && HEX_DIGIT.test(before));
}

const HEX_DIGIT = /[0-9a-f]/i;

/**
 * A text without user name and password, to be shown: a URL, or something meant as one. Of what is no URL, all in front
 * of its last `@` is taken for them: an unescaped slash in a password, say, makes it none.
 */
export function withoutCredentials(text: string): string {
  const start = text.includes('@') ? BEFORE_AUTHORITY.exec(text)?.[0].length : undefined;
  if (start === undefined) return text;
  const length = URL.canParse(text) ? text.slice(start).search(/[/\\?#]/) : -1;
  const at = text.lastIndexOf('@', length < 0 ? text.length : start + length);
  return at < start ? text : text.slice(0, start) + text.slice(at + 1);
}

const BEFORE_AUTHORITY = /^[\0-\x20]*(?:https?:[/\\]*|(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,})/i;

/** A longer text without the credentials of the URLs in it. */
export function withoutCredentialsIn(text: string): string {
  return withoutCredentials(text).replaceAll(/\/\/[^/\s?#"'<>]*@/g, '//');
}
