import { FIRST_STEP, markOf } from '../url/fingerprint.ts';
import { keyWithLogin, type Logins, loginFor, loginsField, withLogin } from '../url/logins.ts';
import type { CrawlUrl } from '../url/url.ts';
import { type UrlKeyRule, urlKeyOf } from '../url/url-key.ts';
import type { FieldsOfTask } from './fields.ts';
import { INITIAL_FIELDS } from './form.ts';
import { type Queue, type RoutingRule, routeOf } from './routing.ts';
import type { Task } from './task.ts';

/** A task that the frontier may take. */
export interface TaskOffer extends Omit<Task, 'run'> {
  /** The task is worth doing for so long from now; see {@link RoutingRule.deadlineMs}. */
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
}

/** What is known of a URL that is offered, beside the URL. */
export interface AboutOffer extends Partial<Omit<FieldsOfTask, 'redirects' | 'logins'>> {
  readonly step?: string;
  /** Where it goes when no rule says where. Left out: the normal queue. */
  readonly queue?: Queue;
  /** Credentials that it had itself: they go before those in `logins`. */
  readonly login?: string | undefined;
  /** That of its own origin goes with it. */
  readonly logins?: Logins | undefined;
  readonly changedAt?: number;
  readonly domain?: string;
}

/**
 * What the frontier is offered for a URL: the one place where a task begins. It is compared as its run compares, goes where
 * the rules say, and has the login that is for it, no other. This runs once per URL of every sitemap.
 */
export function offerOf(url: CrawlUrl, { rules, urlKey }: OfferRules, about: AboutOffer = {}): TaskOffer {
  const { step = FIRST_STEP, queue: otherwise, login: own, logins, ...fields } = about;
  const { href, canonical, host } = url;
  const { queue, deadlineMs } = routeOf(href, rules, otherwise);
  const login = url.login ?? own ?? loginFor(href, logins);
  const mark = markOf(keyWithLogin(urlKeyOf(canonical, urlKey), login), step);
  const ownLogin = loginsField(withLogin(undefined, href, login));
  return { ...INITIAL_FIELDS, ...fields, url: href, host, mark, step, queue, deadlineMs, ...ownLogin };
}
