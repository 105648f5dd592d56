import { type CrawlUrl, linkBase, resolveUrl } from '../url/url.ts';

/** Maximum bytes read of a robots.txt: RFC 9309 section 2.5 asks for 500 KiB. */
export const MAX_ROBOTS_BYTES = 512_000;

/**
 * Returns the length of the whole lines of a robots.txt that was cut off. The line behind them may say more than its author did: of
 * `Disallow: /private`, `Disallow: /` may be left.
 */
export function wholeLinesLength(file: Buffer | string): number {
  return Math.max(file.lastIndexOf('\n'), file.lastIndexOf('\r')) + 1;
}

/**
 * Returns the sitemaps named in the `Sitemap:` lines of a robots.txt, in order, each once. These lines belong to no group. Relative
 * URLs are resolved against the file's URL; anything but an http URL is left out.
 *
 * @param base the URL of the robots.txt, or its origin
 */
export function sitemapsIn(robots: string, base: string): readonly CrawlUrl[] {
  const found = new Map<string, CrawlUrl>();
  for (const line of robots.split(/[\r\n]/)) {
    const link = linkIn(line);
    const url = link === '' || link.includes('\uFFFD') ? undefined : resolveUrl(link, linkBase(base));
    if (url !== undefined && !found.has(url.href)) found.set(url.href, url);
  }
  return [...found.values()];
}

/**
 * A `Sitemap:` line. As Google's parser does, it takes `Site-map` and a missing colon. The value ends at white space, or at a mark that no URL
 * has: some files have quotes or `<br>` around it.
 */
const SITEMAP_LINE = /^\s*site-?map(?:\s*:|\s+(?=https?:))\s*["<]?([^\s<>"]+)/i;

/** Returns the value of a `Sitemap:` line; empty for any other line. */
function linkIn(line: string): string {
  return SITEMAP_LINE.exec(line)?.[1] ?? '';
}
