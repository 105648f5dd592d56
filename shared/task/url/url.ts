import { firstMatch } from '../first-match.ts';
import { JOIN_HOST } from '../group/group.ts';

/** Why a text isn't a URL that can be crawled, as the end of a sentence. */
export type UrlProblem = string;

/** A URL that can be fetched, with its canonical form and its politeness key. */
export interface CrawlUrl {
  /** What is fetched: the WHATWG serialisation of the URL as it was written, without its fragment and its credentials. */
  readonly href: string;
  /**
   * For comparison: `href` normalised by RFC 3986 section 6.2.2, so that two spellings of one URL are one task. Never fetched:
   * a server may answer equivalent spellings differently.
   */
  readonly canonical: string;
  /** The politeness key: see {@link hostKeyOf}. */
  readonly host: string;
  /** Its credentials, `user:password` as serialised, if it had any; see `logins.ts`. */
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

/** As {@link readUrl}, of a list or a sitemap: the URL Standard would strip a tab, and make one URL of two columns. */
export function readListedUrl(text: string): CrawlUrl | { readonly problem: UrlProblem } {
  return text.trim().includes('\t') ? { problem: 'it holds a tab' } : readUrl(text);
}

/**
 * Resolves a link found in a page by the WHATWG URL Standard, without its fragment and credentials. Nothing if it can't be
 * crawled.
 */
export function resolveLink(link: string, base: LinkBase): string | undefined {
  if (PLAIN_PATH.test(link) && !DOTS.test(link)) return base.origin + link;
  return resolveUrl(link, base)?.href;
}

/** As {@link resolveLink}, but returns the whole {@link CrawlUrl}. */
export function resolveUrl(link: string, base: LinkBase): CrawlUrl | undefined {
  const { encodeQuery } = base;
  const url = URL.parse(encodeQuery === undefined ? link : withQuery(link, encodeQuery), base.href);
  if (url === null) return undefined;
  const read = fromUrl(url);
  return 'problem' in read ? undefined : read;
}

/** Writes a query in a page's own encoding; what isn't ASCII is percent-encoded. */
export type QueryEncoder = (query: string) => string;

/** What the links of a page are relative to. */
export interface LinkBase {
  readonly href: string;
  /** Scheme and host of `href`, up to its path. */
  readonly origin: string;
  /** Left out where queries are in UTF-8. */
  readonly encodeQuery?: QueryEncoder;
}

/** A serialised URL without credentials as a base for links. */
export function linkBase(href: string, encodeQuery?: QueryEncoder): LinkBase {
  return { href, origin: originOf(href), ...(encodeQuery === undefined ? {} : { encodeQuery }) };
}

/** A link whose query is written in another encoding. */
export function withQuery(link: string, encode: QueryEncoder): string {
  const [, before = '', query = '', fragment = ''] = /^([^?#]*)([^#]*)(.*)$/s.exec(link) ?? [];
  return before + encode(query) + fragment;
}

/** The origin of a serialised URL without credentials. */
export function originOf(href: string): string {
  const start = href.indexOf('/', href.indexOf('//') + 2);
  return start < 0 ? href : href.slice(0, start);
}

/**
 * Most links are paths that the URL Standard leaves unchanged: only characters that are never escaped, no dot segments, and no
 * second slash that would begin a host. These need no URL parser.
 */
const PLAIN_PATH = /^\/(?!\/)[A-Za-z0-9\-_.~/?=&+,;:@!$()*%]{0,2000}$/;
/** What may begin a dot segment, escaped or not. */
const DOTS = /\/\.|\/%2e/i;

/** `true` for a result of {@link readUrl} that isn't a URL. */
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
 * The politeness key of a URL: its host name, with the port if it isn't the scheme's own. `http` and `https` share one, and so do
 * `example.com` and `example.com.`, which are one name to DNS.
 */
export function hostKeyOf({ host }: Pick<URL, 'host'>): string {
  return withoutRootDot(host);
}

/** Would its politeness key be where joins wait? The URL Standard allows parentheses in the name of a host; no DNS has one. */
export function isOfJoins(url: Pick<URL, 'host'>): boolean {
  return hostKeyOf(url) === JOIN_HOST;
}

/** A host, with its port if it has one, without the dot that stands for the root of DNS at the end of its name. */
export function withoutRootDot(host: string): string {
  return host.includes('.') ? host.replace(/(?<=[^.])\.(?=:|$)/, '') : host;
}

/** Host and port of a serialised URL, or of a mark, as they are written; empty for a text that isn't a URL. */
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
 * The canonical form of a WHATWG serialisation: percent-escapes of unreserved characters decoded, the others in upper
 * case (RFC 3986 sections 6.2.2.1 and 6.2.2.2). The serialisation has already normalised the case of scheme and host, the
 * default port and dot segments. The function is idempotent: an escape behind a broken one, as in `/%4%41`, stays encoded,
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

/** Is this position directly behind a `%`, or behind a `%` and one digit? */
function isBehindBrokenEscape(href: string, at: number): boolean {
  const before = href[at - 1] ?? '';
  return before === '%' || (href[at - 2] === '%' && HEX_DIGIT.test(before));
}

const HEX_DIGIT = /[0-9a-f]/i;

/**
 * Removes user name and password from a URL, or a text meant as one, so that it can be shown. If the text is not a valid URL,
 * for example because of an unescaped slash in the password, everything before its last `@` is taken for credentials; if it has no scheme,
 * as in `user:password@example.com/`, what looks like them.
 */
export function withoutCredentials(text: string): string {
  if (!text.includes('@')) return text;
  const start = authorityOfText(text);
  if (start === undefined) return text.slice(bareLoginLength(text));
  const length = URL.canParse(text) ? text.slice(start).search(/[/\\?#]/) : -1;
  const at = text.lastIndexOf('@', length < 0 ? text.length : start + length);
  return at < start ? text : text.slice(0, start) + text.slice(at + 1);
}

/** Where the authority begins, of a text that has slashes before it, or a scheme that is followed by one without them. */
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
 * Length of `user:password@` before a host, of a text without a scheme; `mailto:` and its like have an address there.
 */
function bareLoginLength(text: string): number {
  const colon = firstMatch(text, NOT_OF_USER);
  if (colon === 0 || text[colon] !== ':' || /^(?:mailto|sips?|xmpp|acct)$/i.test(text.slice(0, colon))) return 0;
  const at = firstMatch(text, NOT_OF_PASSWORD, colon + 1);
  return text[at] === '@' && /[\w[]/.test(text.charAt(at + 1)) ? at + 1 : 0;
}

const NOT_OF_USER = /[^\w.+%~-]/g;
const NOT_OF_PASSWORD = /[\s/?#@]/g;

/** Removes the credentials from all URLs in a longer text. */
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
