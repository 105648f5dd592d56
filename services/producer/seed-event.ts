import type { SitemapEntry } from '../../shared/task/sitemap/sitemap-entry.ts';
import type { Logins } from '../../shared/task/url/logins.ts';

/** The findings from reading seeds, in the order in which they are found. */
export type SeedEvent =
  /** A sitemap, list or file begins to be read. */
  | { readonly kind: 'reading'; readonly source: string }
  /** `again`: these were already found when the document was last read from its beginning. `logins`: those of the seed. */
  | {
      readonly kind: 'entries';
      readonly entries: readonly SitemapEntry[];
      readonly again: boolean;
      readonly logins?: Logins | undefined;
    }
  /** `problem` is the end of a sentence that begins with `source`. Intact parts are still read. */
  | { readonly kind: 'problem'; readonly source: string; readonly problem: string }
  | { readonly kind: 'hint'; readonly hint: string };
