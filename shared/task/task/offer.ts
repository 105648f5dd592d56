import { FIRST_STEP, markOf } from '../url/fingerprint.ts';
import { keyWithLogin, type Logins, loginFor, loginsField, withLogin } from '../url/logins.ts';
import type { CrawlUrl } from '../url/url.ts';
import { type UrlKeyRule, urlKeyOf } from '../url/url-key.ts';
import { type CarriedFields, INITIAL_FIELDS } from './form.ts';
import { digestOf } from './request.ts';
import { type Queue, type RoutingRule, routeOf } from './routing.ts';
import type { Task } from './task.ts';

/** A task offered to the frontier, which may take it. */
export interface TaskOffer extends Omit<Task, 'run'> {
  /** Milliseconds from now until the task's deadline, a whole number; see {@link RoutingRule.deadlineMs}. */
  readonly deadlineMs?: number | undefined;
  /** When the page was last changed, according to its sitemap; epoch milliseconds. */
  readonly changedAt?: number | undefined;
  /** The domain whose limit of hosts this task's host counts towards; see {@link OfferOptions.mostHosts}. Left out: none. */
  readonly domain?: string | undefined;
  /**
   * For a group's owner that a replay offers: is the dead letter of the owner itself, or of its group? A run takes the owner once,
   * whichever comes first; with `group` even though its mark is already taken.
   */
  readonly replayOf?: 'task' | 'group' | undefined;
}

/** The rules by which a URL becomes a task of a run. */
export interface OfferRules {
  readonly rules: readonly RoutingRule[];
  /** The run's rules for comparing URLs. */
  readonly urlKey: readonly UrlKeyRule[] | undefined;
  /** Known credentials. A URL's own take precedence over those for its origin. */
  readonly logins?: Logins | undefined;
  /** Returns the step at which a URL starts that no step has followed. Left out: the first step. */
  readonly startOf?: ((href: string) => string) | undefined;
}

/** Facts about an offered task besides its URL. */
export interface AboutOffer extends CarriedFields, Pick<TaskOffer, 'changedAt' | 'deadlineMs' | 'domain' | 'replayOf'> {
  /** Default: the step at which the URL starts, by {@link OfferRules.startOf}. */
  readonly step?: string;
  /** The group that the task will belong to. Left out: none. */
  readonly group?: string | undefined;
  /** The queue if no rule matches. Default: the normal queue. */
  readonly queue?: Queue;
}

/**
 * Makes the offer for a URL; every task begins here. The run's rules decide its key, the routing rules its queue; of all logins it
 * gets only the one for its own origin. This runs once per URL of every sitemap.
 */
export function offerOf(
  url: CrawlUrl,
  { rules, urlKey, logins, startOf }: OfferRules,
  about: AboutOffer = INITIAL_FIELDS,
): TaskOffer {
  const { href, canonical, host } = url;
  const { step = startOf?.(href) ?? FIRST_STEP } = about;
  const { queue, deadlineMs } = routeOf(href, rules, about.queue);
  const login = url.login ?? loginFor(href, logins);
  const mark = markOf(keyWithLogin(urlKeyOf(canonical, urlKey), login), step, digestOf(about.request), about.group);
  const offer = { ...about, url: href, host, mark, step, queue, deadlineMs: about.deadlineMs ?? deadlineMs };
  return login === undefined ? offer : { ...offer, ...loginsField(withLogin(undefined, href, login)) };
}
