import { domainToASCII } from 'node:url';
import { canonicalOf } from './url.ts';

/**
 * Does a pattern match a whole text? `*` stands for any characters or none, including `/`; everything else stands for itself.
 *
 * Each part between two stars is matched at its first occurrence after the previous part: if any match exists, that one works.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length >= at + last.length && text.endsWith(last);
}

/** Beginnings of a URL pattern: with `/` it is matched against path and query, with the others against the whole URL. */
const BEGINNING = /^(?:\/|\*|https?:\/\/)/;

/** Can a URL match this pattern at all? None can match `news/*`. */
export function isUrlPattern(pattern: string): boolean {
  return BEGINNING.test(pattern);
}

/**
 * Does a pattern match a URL? A pattern that begins with `/` is matched against path and query, any other against the whole URL. The spelling
 * makes no difference: `/café/*` is the same as `/caf%C3%A9/*`, and behind `https://` the host `BÜCHER.example` is `xn--bcher-kva.example`.
 */
export function matchesUrl(pattern: string, href: string): boolean {
  const url = canonicalOf(href);
  const own = canonicalOf(
    pattern.replace(HOST, hostInUrls).replaceAll(ALWAYS_ESCAPED, (found) => encodeURIComponent(found.toWellFormed())),
  );
  return matchesGlob(own, pattern.startsWith('/') ? url.slice(url.indexOf('/', url.indexOf('//') + 2)) : url);
}

/** Which URLs a run takes; see {@link isWanted}. */
export interface UrlPatterns {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Returns whether the patterns allow a URL. Without `include` patterns every URL is included; a matching `exclude` pattern wins. */
export function isWanted(href: string, { include = [], exclude }: UrlPatterns): boolean {
  if (include.length > 0 && !include.some((pattern) => matchesUrl(pattern, href))) return false;
  return excludingPattern(href, exclude) === undefined;
}

/** Returns the first pattern that matches. */
export function excludingPattern(href: string, exclude: readonly string[] = []): string | undefined {
  return exclude.find((pattern) => matchesUrl(pattern, href));
}

/** Characters that are always escaped in paths and queries. */
const ALWAYS_ESCAPED = /[^!-~]+|["<>]/g;

const HOST = /(?<=^(?:https?|\*):\/\/)[^/?#]+/i;

/** An international label without a wildcard. */
const INTERNATIONAL = /^(?=.*[^!-~])[^*]+$/;

/** Writes a host, or a pattern of one, as it appears in a serialised URL. */
function hostInUrls(host: string): string {
  const labels = host.toLowerCase().split('.');
  return labels.map((label) => (INTERNATIONAL.test(label) ? domainToASCII(label) || label : label)).join('.');
}
