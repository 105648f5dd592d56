import { firstMatch } from '../first-match.ts';
import { JOIN_HOST } from '../group/group.ts';

/** Reason why a text isn't a URL that can be crawled, as the end of a sentence. */
export type UrlProblem = string;

/** A URL that can be fetched, with its canonical form and its politeness key. */
export interface CrawlUrl {
  /** The URL to fetch: the WHATWG serialisation of the URL as written, without fragment and credentials. */
  readonly href: string;
  /**
   * For comparison: `href` normalised by RFC 3986 section 6.2.2, so that two spellings of a URL are one task. It is never fetched,
   * since a server may answer equivalent spellings differently.
   */
  readonly canonical: string;
  /** The politeness key: see {@link hostKeyOf}. */
  readonly host: string;
  /** Its credentials, if any: `user:password` as serialised; see `logins.ts`. */
  readonly login?: string;
}

/** Longer URLs are malformed: no server has to accept them (RFC 9110 section 4.1 recommends 8 000 octets). */
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

/** Like {@link readUrl}, for lists and sitemaps. Refuses a tab, which the URL Standard would strip, making one URL of two columns. */
export function readListedUrl(text: string): CrawlUrl | { readonly problem: UrlProblem } {
  return text.trim().includes('\t') ? { problem: 'it contains a tab' } : readUrl(text);
}

/**
 * Resolves a link found in a page by the WHATWG URL Standard, without its fragment and credentials. Returns nothing if it can't
 * be crawled.
 */
export function resolveLink(link: string, base: LinkBase): string | undefined {
  if (PLAIN_PATH.test(link) && !DOTS.test(link)) return base.origin + link;
  return resolveUrl(link, base)?.href;
}

/** Like {@link resolveLink}, but returns the whole {@link CrawlUrl}. */
export function resolveUrl(link: string, base: LinkBase): CrawlUrl | undefined {
  const { encodeQuery } = base;
  const url = URL.parse(encodeQuery === undefined ? link : withQuery(link, encodeQuery), base.href);
  if (url === null) return undefined;
  const read = fromUrl(url);
  return 'problem' in read ? undefined : read;
}

/** Writes a query in a page's own encoding, percent-encoding everything beyond ASCII. */
export type QueryEncoder = (query: string) => string;

/** The base that the links of a page are relative to. */
export interface LinkBase {
  readonly href: string;
  /** Scheme and host of `href`, up to its path. */
  readonly origin: string;
  /** Left out if queries are in UTF-8. */
  readonly encodeQuery?: QueryEncoder;
}

/** Makes a base for links from a serialised URL without credentials. */
export function linkBase(href: string, encodeQuery?: QueryEncoder): LinkBase {
  return { href, origin: originOf(href), ...(encodeQuery === undefined ? {} : { encodeQuery }) };
}

/** Returns a link with its query written in another encoding. */
export function withQuery(link: string, encode: QueryEncoder): string {
  const [, before = '', query = '', fragment = ''] = /^([^?#]*)([^#]*)(.*)$/s.exec(link) ?? [];
  return before + encode(query) + fragment;
}

/** Returns the origin of a serialised URL without credentials. */
export function originOf(href: string): string {
  const start = href.indexOf('/', href.indexOf('//') + 2);
  return start < 0 ? href : href.slice(0, start);
}

/**
 * Most links are paths that the URL Standard leaves unchanged: only characters that are never escaped, no dot segments, and no
 * second slash that would begin a host. These need no URL parser.
 */
const PLAIN_PATH = /^\/(?!\/)[A-Za-z0-9\-_.~/?=&+,;:@!$()*%]{0,2000}$/;
/** Characters that may begin a dot segment, escaped or not. */
const DOTS = /\/\.|\/%2e/i;

/** Is a result of {@link readUrl} a problem, and not a URL? */
export function isProblem(read: CrawlUrl | { readonly problem: UrlProblem }): read is { readonly problem: UrlProblem } {
  return 'problem' in read;
}

function fromUrl(url: URL): CrawlUrl | { readonly problem: UrlProblem } {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { problem: `its scheme is ${url.protocol.slice(0, -1)}, not http or https` };
  }
  const host = hostKeyOf(url);
  if (host === JOIN_HOST) return { problem: `no host is called ${JOIN_HOST}` };
  const login = takeLogin(url);
  let { href } = url;
  const fragment = href.indexOf('#');
  if (fragment >= 0) href = href.slice(0, fragment);
  if (href.length > MAX_URL_LENGTH) return { problem: `it is longer than ${MAX_URL_LENGTH} characters` };
  const read = { href, canonical: canonicalOf(href), host };
  return login === undefined ? read : { ...read, login };
}

/**
 * Returns the politeness key of a URL: its host name, with the port if it isn't the scheme's default. `http` and `https` share one, and
 * so do `example.com` and `example.com.`, which are one name in DNS.
 */
export function hostKeyOf({ host }: Pick<URL, 'host'>): string {
  return withoutRootDot(host);
}

/** Is its politeness key the pseudo host of joins? The URL Standard allows parentheses in a host name, but DNS has no such name. */
export function isOfJoins(url: Pick<URL, 'host'>): boolean {
  return hostKeyOf(url) === JOIN_HOST;
}

/** Returns a host, with its port if it has one, but without the dot at the end of its name that stands for the root of DNS. */
export function withoutRootDot(host: string): string {
  return host.includes('.') ? host.replace(/(?<=[^.])\.(?=:|$)/, '') : host;
}

/** Returns host and port of a serialised URL or a mark, as written; empty for a text that isn't a URL. */
export function authorityOf(text: string): string {
  const start = text.indexOf('://');
  if (start < 0) return '';
  const end = text.indexOf('/', start + 3);
  const authority = text.slice(start + 3, end < 0 ? undefined : end);
  return authority.slice(authority.lastIndexOf('@') + 1);
}

/** Removes the credentials from a URL and returns them as they were serialised. */
export function takeLogin(url: URL): string | undefined {
  if (!url.href.includes('@')) return undefined;
  const { username, password } = url;
  if (username === '' && password === '') return undefined;
  url.username = '';
  url.password = '';
  return password === '' ? username : `${username}:${password}`;
}

/**
 * Returns the canonical form of a WHATWG serialisation: percent-escapes of unreserved characters are decoded, the others written
 * in upper case (RFC 3986 sections 6.2.2.1 and 6.2.2.2). The serialisation has already normalised the case of scheme and host, the
 * default port and dot segments. The function is idempotent: an escape after a broken one, as in `/%4%41`, stays encoded,
 * since decoding it would complete the broken one.
 */
export function canonicalOf(href: string): string {
  if (!href.includes('%')) return href;
  return href.replace(/%([0-9a-f]{2})/gi, (encoded, hex: string, at: number) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    if (!/[A-Za-z0-9\-._~]/.test(character)) return encoded.toUpperCase();
    return HEX_DIGIT.test(character) && isBehindBrokenEscape(href, at) ? encoded : character;
  });
}

/** Is this position directly after a `%`, or after a `%` and one digit? */
function isBehindBrokenEscape(href: string, at: number): boolean {
  const before = href[at - 1] ?? '';
  return before === '%' || (href[at - 2] === '%' && HEX_DIGIT.test(before));
}

const HEX_DIGIT = /[0-9a-f]/i;

/**
 * Removes user name and password from a URL, or a text meant as one, so that it can be shown. If the text is not a valid URL,
 * because of an unescaped slash in the password, say, everything before its last `@` counts as credentials. Without a scheme,
 * as in `user:password@example.com/`, only a beginning that looks like credentials does.
 */
export function withoutCredentials(text: string): string {
  if (!text.includes('@')) return text;
  const start = authorityOfText(text);
  if (start === undefined) return text.slice(bareLoginLength(text));
  const length = URL.canParse(text) ? text.slice(start).search(/[/\\?#]/) : -1;
  const at = text.lastIndexOf('@', length < 0 ? text.length : start + length);
  return at < start ? text : text.slice(0, start) + text.slice(at + 1);
}

/** Returns where the authority begins, if two slashes precede it, or only `http:` or `https:`; otherwise nothing. */
function authorityOfText(text: string): number | undefined {
  const start = firstMatch(text, NOT_LEADING);
  const colon = firstMatch(text, NOT_OF_SCHEME, start);
  const scheme = text[colon] === ':' && /[a-z]/i.test(text.charAt(start)) ? text.slice(start, colon) : undefined;
  const slashes = scheme === undefined ? start : colon + 1;
  const end = firstMatch(text, NOT_SLASH, slashes);
  return end - slashes >= 2 || /^https?$/i.test(scheme ?? '') ? end : undefined;
}

const NOT_LEADING = /[^\0-\x20]/g;
const NOT_OF_SCHEME = /[^a-z0-9+.-]/gi;
const NOT_SLASH = /[^/\\]/g;

/**
 * Returns the length of `user:password@` before a host, in a text without a scheme. After `mailto:` and the like there is an address,
 * not a login.
 */
function bareLoginLength(text: string): number {
  const colon = firstMatch(text, NOT_OF_USER);
  if (colon === 0 || text[colon] !== ':' || /^(?:mailto|sips?|xmpp|acct)$/i.test(text.slice(0, colon))) return 0;
  const at = firstMatch(text, NOT_OF_PASSWORD, colon + 1);
  return text[at] === '@' && /[\w[]/.test(text.charAt(at + 1)) ? at + 1 : 0;
}

const NOT_OF_USER = /[^\w.+%~-]/g;
const NOT_OF_PASSWORD = /[\s/?#@]/g;

/** Removes the credentials from all URLs in a text. */
export function withoutCredentialsIn(text: string): string {
  const first = withoutCredentials(text);
  if (!first.includes('@')) return first;
  let shown = '';
  let from = 0;
  for (let slashes = first.indexOf('//'); slashes >= 0; slashes = first.indexOf('//', slashes + 1)) {
    const start = slashes + 2;
    const end = firstMatch(first, NOT_OF_AUTHORITY, start);
    const at = first.slice(start, end).lastIndexOf('@');
    if (at < 0) continue;
    shown += first.slice(from, start);
    from = start + at + 1;
    slashes = from - 1;
  }
  return shown + first.slice(from);
}

const NOT_OF_AUTHORITY = /[/\s?#"'<>]/g;
