import type { Offer } from '../../shared/ports/frontier/frontier.ts';
import type { SitemapEntry } from '../../shared/task/sitemap/sitemap-entry.ts';
import { INITIAL_FIELDS } from '../../shared/task/task/form.ts';
import { type OfferRules, offerOf } from '../../shared/task/task/offer.ts';
import type { Logins } from '../../shared/task/url/logins.ts';
import { isProblem, readListedUrl, withoutCredentials } from '../../shared/task/url/url.ts';

/** A URL as a seed gives it. */
export interface Seeded extends Pick<SitemapEntry, 'loc' | 'isNews'> {
  /** When it was changed, according to its sitemap; for incremental runs. */
  readonly changedAt?: number;
  /** Credentials of the seed that led to it; sent to their own origin only. */
  readonly logins?: Logins | undefined;
}

const NEWS = { ...INITIAL_FIELDS, queue: 'priority' } as const;

/** Returns the offer for the URL of a seed, as it was written. */
export function offerOfSeed({ loc, isNews, changedAt, logins }: Seeded, rules: OfferRules): Offer {
  const url = readListedUrl(loc);
  if (isProblem(url)) return { malformed: withoutCredentials(loc), problem: url.problem };
  const about = isNews === true ? NEWS : INITIAL_FIELDS;
  return offerOf(
    url,
    logins === undefined ? rules : { ...rules, logins },
    changedAt === undefined ? about : { ...about, changedAt },
  );
}
