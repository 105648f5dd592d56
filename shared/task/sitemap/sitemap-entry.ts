/** One line of a sitemap: a page, or another sitemap. */
export interface SitemapEntry {
  /** Absolute, if it could be made so; else as it was written, trimmed. Not checked to be a URL. */
  readonly loc: string;
  /** When it was last changed, as it was written. */
  readonly lastmod: string | undefined;
  readonly to: 'page' | 'sitemap';
  /** It has a `news:news`: an article that should be fetched soon. Left out: no. */
  readonly isNews?: true;
}

/** Pages of which nothing else is known. */
export function pageEntries(urls: readonly string[]): readonly SitemapEntry[] {
  return urls.map((loc) => ({ loc, lastmod: undefined, to: 'page' }));
}

/**
 * What a document turned out to be. Its content decides, never its name or media type.
 *
 * | kind      |                                                       |
 * |-----------|-------------------------------------------------------|
 * | `urlset`  | pages                                                 |
 * | `index`   | other sitemaps                                        |
 * | `feed`    | pages: RSS 2.0, RSS 1.0, Atom or JSON Feed            |
 * | `text`    | pages, one URL a line                                 |
 * | `html`    | a page, such as an error page served as a sitemap     |
 * | `empty`   | nothing but white space                               |
 * | `unknown` | none of these                                         |
 */
export type SitemapKind = 'urlset' | 'index' | 'feed' | 'text' | 'html' | 'empty' | 'unknown';

/** A longer `loc` is cut to this, which is still too long for a URL, so it is reported as malformed rather than lost. */
export const MAX_LOC_LENGTH = 8192;
