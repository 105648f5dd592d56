import { linkBase, resolveLink } from './url.ts';

/** So much of a robots.txt is read: RFC 9309 section 2.5 asks for 500 KiB. */
export const MAX_ROBOTS_BYTES = 512_000;

/**
 * The sitemaps that a robots.txt names, in its order, each once: its `Sitemap:` lines, which belong to no group. They are
 * resolved against where the file lies; what is no http URL is left out.
 *
 * @param base the URL of the robots.txt, or its origin
 */
export function sitemapsIn(robots: string, base: string): readonly string[] {
  const found = new Set<string>();
  for (const [, link = ''] of robots.matchAll(/^[^\S\r\n]*sitemap[^\S\r\n]*:[^\S\r\n]*(\S+)/gim)) {
    const url = link.includes('\uFFFD') ? undefined : resolveLink(link, linkBase(base));
    if (url !== undefined) found.add(url);
  }
  return [...found];
}
