import type { Offer } from '../../shared/ports/frontier.ts';
import type { SitemapEntry } from '../../shared/task/sitemap/sitemap-entry.ts';
import { type RoutingRule, routeOf } from '../../shared/task/task/routing.ts';
import { FIRST_STEP, markOf } from '../../shared/task/url/fingerprint.ts';
import { keyWithLogin, type Logins, loginFor, loginsField, withLogin } from '../../shared/task/url/logins.ts';
import { isProblem, readUrl, withoutCredentials } from '../../shared/task/url/url.ts';
import { type UrlKeyRule, urlKeyOf } from '../../shared/task/url/url-key.ts';

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
  /** Of the seed that it was found by: for what is of its origin, too. */
  readonly logins?: Logins | undefined;
}

/** What the frontier is offered for the URL of a seed, as it was written. This runs once per URL of every sitemap. */
export function offerOf({ loc, isNews, changedAt, logins }: Seeded, { rules, urlKey }: OfferRules): Offer {
  const url = readUrl(loc);
  if (isProblem(url)) return { malformed: withoutCredentials(loc), problem: url.problem };
  const { href, canonical, host } = url;
  const { queue, deadlineMs } = routeOf(href, rules, isNews === true ? 'priority' : 'normal');
  const login = url.login ?? loginFor(href, logins);
  const mark = markOf(keyWithLogin(urlKeyOf(canonical, urlKey), login));
  const own = loginsField(withLogin(undefined, href, login));
  const offer = { url: href, host, mark, step: FIRST_STEP, depth: 0, ...own, queue, deadlineMs };
  return changedAt === undefined ? offer : { ...offer, changedAt };
}
