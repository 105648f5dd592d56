import type { SitemapEntry } from '../../shared/task/sitemap/sitemap-entry.ts';
import type { Logins } from '../../shared/task/url/logins.ts';

/** What is read from seeds, in the order in which it is found. */
export type SeedEvent =
  /** A sitemap, list or file is read from now on. */
  | { readonly kind: 'reading'; readonly source: string }
  /** `again`: these were found before, when the document was last read from its beginning. `logins`: of their seed. */
  | {
      readonly kind: 'entries';
      readonly entries: readonly SitemapEntry[];
      readonly again: boolean;
      readonly logins?: Logins | undefined;
    }
  /** The end of a sentence that begins with `source`. Intact parts are still read. */
  | { readonly kind: 'problem'; readonly source: string; readonly problem: string }
  | { readonly kind: 'hint'; readonly hint: string };
