/** One entry of a sitemap: a page, or another sitemap. */
export interface SitemapEntry {
  /** The location, made absolute if possible, otherwise as written but trimmed. Not checked to be a URL. */
  readonly loc: string;
  /** Time of the last change, as written. */
  readonly lastmod: string | undefined;
  readonly to: 'page' | 'sitemap';
  /** The entry has a `news:news`: it is an article that should be fetched soon. Left out: no. */
  readonly isNews?: true;
}

/** Makes entries for pages about which nothing else is known. */
export function pageEntries(urls: readonly string[]): readonly SitemapEntry[] {
  return urls.map((loc) => ({ loc, lastmod: undefined, to: 'page' }));
}

/**
 * The kind of a document. Its content decides, never its name or media type.
 *
 * | kind      |                                                       |
 * |-----------|-------------------------------------------------------|
 * | `urlset`  | pages                                                 |
 * | `index`   | other sitemaps                                        |
 * | `feed`    | pages: RSS 2.0, RSS 1.0, Atom or JSON Feed            |
 * | `text`    | pages, one URL per line                               |
 * | `html`    | a page, such as an error page served as a sitemap     |
 * | `empty`   | nothing but white space                               |
 * | `unknown` | none of these                                         |
 */
export type SitemapKind = 'urlset' | 'index' | 'feed' | 'text' | 'html' | 'empty' | 'unknown';

/** Maximum characters of a `loc`. A longer one is cut but stays longer than this, so that it is reported as malformed rather than lost. */
export const MAX_LOC_LENGTH = 8192;
