import { FIRST_STEP, markOf } from '../url/fingerprint.ts';
import { keyWithLogin, type Logins, loginFor, loginsField, withLogin } from '../url/logins.ts';
import type { CrawlUrl } from '../url/url.ts';
import { type UrlKeyRule, urlKeyOf } from '../url/url-key.ts';
import { type CarriedFields, INITIAL_FIELDS } from './form.ts';
import { type Queue, type RoutingRule, routeOf } from './routing.ts';
import type { Task } from './task.ts';

/** A task that the frontier may take. */
export interface TaskOffer extends Omit<Task, 'run'> {
  /** How long from now the task may take; see {@link RoutingRule.deadlineMs}. */
  readonly deadlineMs?: number | undefined;
  /** When the page was changed last, as its sitemap says; epoch milliseconds. */
  readonly changedAt?: number | undefined;
  /** Counts as one of the hosts that this domain may have; see {@link OfferOptions.mostHosts}. Left out, it isn't counted. */
  readonly domain?: string | undefined;
}

/** What turns a URL into a task of a run. */
export interface OfferRules {
  readonly rules: readonly RoutingRule[];
  /** The run's. */
  readonly urlKey: readonly UrlKeyRule[] | undefined;
  /** Credentials that are known. A URL's own go before those for its origin. */
  readonly logins?: Logins | undefined;
}

/** What is known of a task besides its URL. */
export interface AboutOffer extends CarriedFields, Pick<TaskOffer, 'changedAt' | 'domain'> {
  readonly step?: string;
  /** Where it goes when no rule says where. Left out: the normal queue. */
  readonly queue?: Queue;
}

/**
 * What the frontier is offered for a URL: the one place where a task begins. It is compared as its run compares, goes where
 * the rules say, and has the login that is for it, no other. This runs once per URL of every sitemap.
 */
export function offerOf(
  url: CrawlUrl,
  { rules, urlKey, logins }: OfferRules,
  about: AboutOffer = INITIAL_FIELDS,
): TaskOffer {
  const { href, canonical, host } = url;
  const { step = FIRST_STEP } = about;
  const { queue, deadlineMs } = routeOf(href, rules, about.queue);
  const login = url.login ?? loginFor(href, logins);
  const mark = markOf(keyWithLogin(urlKeyOf(canonical, urlKey), login), step);
  const offer = { ...about, url: href, host, mark, step, queue, deadlineMs };
  return login === undefined ? offer : { ...offer, ...loginsField(withLogin(undefined, href, login)) };
}
