import type { SitemapEntry } from '../../shared/task/sitemap/sitemap-entry.ts';
import type { Logins } from '../../shared/task/url/logins.ts';

/** What comes out of seeds, in the order in which it is found. */
export type Found =
  /** A sitemap, list or file is read from now on. */
  | { readonly kind: 'reading'; readonly source: string }
  /** `again`: these were found before, when the document was last read from its beginning. `logins`: of their seed. */
  | {
      readonly kind: 'entries';
      readonly entries: readonly SitemapEntry[];
      readonly again: boolean;
      readonly logins?: Logins | undefined;
    }
  /** As the end of a sentence that begins with `source`. What is in order is read on. */
  | { readonly kind: 'problem'; readonly source: string; readonly problem: string }
  | { readonly kind: 'hint'; readonly hint: string };
