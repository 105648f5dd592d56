import type { Offer } from '../../shared/frontier.ts';
import { FIRST_STEP, markOf } from '../../shared/task/fingerprint.ts';
import { type RoutingRule, routeOf } from '../../shared/task/routing.ts';
import type { SitemapEntry } from '../../shared/task/sitemap-entry.ts';
import { isProblem, readUrl } from '../../shared/task/url.ts';
import { type UrlKeyRule, urlKeyOf } from '../../shared/task/url-key.ts';

/** What turns a URL into a task of a run. */
export interface OfferRules {
  readonly rules: readonly RoutingRule[];
  /** The run's. */
  readonly urlKey: readonly UrlKeyRule[] | undefined;
}

/** What a seed says of a URL. */
export interface Seeded extends Pick<SitemapEntry, 'loc' | 'isNews'> {
  /** When its sitemap says that it was changed; for runs that go by it. */
  readonly changedAt?: number;
}

/** What the frontier is offered for the URL of a seed, as it was written. This runs once per URL of every sitemap. */
export function offerOf({ loc, isNews, changedAt }: Seeded, { rules, urlKey }: OfferRules): Offer {
  const url = readUrl(loc);
  if (isProblem(url)) return { malformed: loc, problem: url.problem };
  const { href, canonical, host } = url;
  const { queue, deadlineMs } = routeOf(href, rules, isNews === true ? 'priority' : 'normal');
  const mark = markOf(urlKeyOf(canonical, urlKey));
  const offer = { url: href, host, mark, step: FIRST_STEP, depth: 0, queue, deadlineMs };
  return changedAt === undefined ? offer : { ...offer, changedAt };
}
