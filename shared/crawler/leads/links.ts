import type { RunOptions } from '../../ports/runs.ts';
import { INITIAL_FIELDS } from '../../task/task/form.ts';
import { type AboutOffer, offerOf, type TaskOffer } from '../../task/task/offer.ts';
import { MAX_LINKS, MAX_LINKS_LENGTH } from '../../task/task/page-limits.ts';
import type { RoutingRule } from '../../task/task/routing.ts';
import type { Task } from '../../task/task/task.ts';
import { isWanted } from '../../task/url/glob.ts';
import type { Logins } from '../../task/url/logins.ts';
import { scopeTest } from '../../task/url/scope.ts';
import { hostKeyOf, isProblem, MAX_URL_LENGTH, readUrl } from '../../task/url/url.ts';
import { FILE_STEP } from '../file-step.ts';

export interface FollowOptions {
  readonly task: Task;
  /** URL of the page that has the links, after redirects. */
  readonly finalUrl: string;
  /** The run's options, with those that a step overrides. */
  readonly options: RunOptions;
  readonly rules: readonly RoutingRule[];
  /** The logins of the visit that found the links. Each is used only for its own origin. */
  readonly logins?: Logins | undefined;
  /** Returns the credentials written in a link itself. */
  readonly loginOf?: (link: string) => string | undefined;
  /** Returns the registrable domain of a host name. Needed only for scope `domain`. */
  readonly domainOf?: (hostname: string) => string;
  /** Returns the depth of a link's page. */
  readonly depthOf: (link: string) => number;
  /** Further fields of the links' tasks. */
  readonly about?: Pick<AboutOffer, 'group' | 'replayed' | 'step' | 'kept' | 'request' | 'queue' | 'deadlineMs'>;
  /** Returns the step where a link starts that no step follows. */
  readonly startOf?: (href: string) => string;
  /** Returns whether a link was seen before. One that is too deep is then not parsed again. */
  readonly isSeen?: (link: string) => boolean;
}

/** The links of a page, by whether they are followed and why not. */
export interface SortedLinks {
  /** Links that the run follows: not too deep, within its scope, and matching its patterns. */
  readonly offers: readonly TaskOffer[];
  /** Links excluded only by their depth. */
  readonly tooDeep: readonly string[];
  /** Links outside the scope, or not matching the patterns. */
  readonly outOfScope: readonly string[];
}

/** Sorts the links of a page. Drops those that can't be crawled. */
export function sortLinks(links: readonly string[], follow: FollowOptions): SortedLinks {
  const { task, finalUrl, options, rules, logins, loginOf, domainOf = (hostname) => hostname } = follow;
  const { depthOf, about: known, startOf, isSeen = () => false } = follow;
  const place = { ...task, host: hostKeyOf(new URL(task.url)) };
  const isFile = known?.step === FILE_STEP.key;
  const isInScope = isFile ? () => ({}) : scopeTest(options.scope ?? 'host', place, finalUrl, domainOf);
  const isCounted = options.scope === 'domain' && options.maxHostsPerDomain !== undefined;
  const offerRules = { rules, urlKey: options.urlKey, logins, startOf };
  const [offers, tooDeep, outOfScope]: [TaskOffer[], string[], string[]] = [[], [], []];
  for (const link of links) {
    const depth = depthOf(link);
    const isTooDeep = depth > options.maxDepth;
    if (isTooDeep && isSeen(link)) continue;
    const url = readUrl(link);
    if (isProblem(url)) continue;
    const scope = isInScope(url);
    if (scope === undefined || !isWanted(url.href, options)) {
      outOfScope.push(link);
      continue;
    }
    if (isTooDeep) {
      tooDeep.push(link);
      continue;
    }
    const domain = isCounted ? domainCounting(url.host, task.host, domainOf) : undefined;
    const about = {
      ...{ ...INITIAL_FIELDS, ...known, depth, ...scope },
      ...(depth === 0 ? { followed: true as const } : {}),
      ...(domain === undefined ? {} : { domain }),
    };
    const own = url.login ?? loginOf?.(link);
    offers.push(offerOf(own === undefined ? url : { ...url, login: own }, offerRules, about));
  }
  return { offers, tooDeep, outOfScope };
}

/** Returns the depth of pages that plain links lead to. Unless a depth was set, the next page of a list is as deep as this one. */
export function plainDepth(
  { depth }: Pick<Task, 'depth'>,
  { hasDefaultDepth }: Pick<RunOptions, 'hasDefaultDepth'>,
  isNext: (link: string) => boolean = () => false,
): (link: string) => number {
  return (link) => depth + (hasDefaultDepth === true && isNext(link) ? 0 : 1);
}

/** Cuts a crawler's links of one page to the limits of a page. A single link can be as long as any URL: one with a cursor is long. */
export class LinkBudget {
  #links = 0;
  #length = 0;
  #isCut = false;

  /** Whether links were left out. */
  get isCut(): boolean {
    return this.#isCut;
  }

  take(links: readonly string[]): readonly string[] {
    const kept: string[] = [];
    for (const link of links) {
      if (link.length > MAX_URL_LENGTH) continue;
      if (this.#links === MAX_LINKS || this.#length + link.length > MAX_LINKS_LENGTH) break;
      kept.push(link);
      this.#links++;
      this.#length += link.length;
    }
    this.#isCut ||= kept.length < links.length;
    return kept;
  }
}

/** Returns the domain whose limit of hosts a link counts towards; undefined for the domain itself, its `www` and the page's host. */
function domainCounting(host: string, own: string, domainOf: (hostname: string) => string): string | undefined {
  const domain = domainOf(host.replace(/:\d+$/, ''));
  return host === own || host === domain || host === `www.${domain}` ? undefined : domain;
}
