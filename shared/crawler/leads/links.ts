import type { RunOptions } from '../../ports/runs.ts';
import { INITIAL_FIELDS } from '../../task/task/form.ts';
import { type AboutOffer, offerOf, type TaskOffer } from '../../task/task/offer.ts';
import { MAX_LINKS, MAX_LINKS_LENGTH } from '../../task/task/page-limits.ts';
import type { RoutingRule } from '../../task/task/routing.ts';
import type { Task } from '../../task/task/task.ts';
import { matchesUrl } from '../../task/url/glob.ts';
import type { Logins } from '../../task/url/logins.ts';
import { scopeTest } from '../../task/url/scope.ts';
import { hostKeyOf, isProblem, MAX_URL_LENGTH, readUrl } from '../../task/url/url.ts';
import { FILE_STEP } from '../file-step.ts';

export interface FollowOptions {
  readonly task: Task;
  /** URL of the page that has the links, after redirects. */
  readonly finalUrl: string;
  /** The run's, or those that a step has in their place. */
  readonly options: RunOptions;
  readonly rules: readonly RoutingRule[];
  /** The logins of the visit that found the links; each is used for its own origin only. */
  readonly logins?: Logins | undefined;
  /** The credentials written in a link itself. */
  readonly loginOf?: (link: string) => string | undefined;
  /** Needed for scope `domain` only. */
  readonly domainOf?: (hostname: string) => string;
  /** How deep the page of a link is. */
  readonly depthOf: (link: string) => number;
  /** What else is known of the links' tasks. */
  readonly about?: Pick<AboutOffer, 'group' | 'replayed' | 'step' | 'kept' | 'request' | 'queue' | 'deadlineMs'>;
  /** Where links of no step start. */
  readonly startOf?: (href: string) => string;
  /** Has a link been met before? One that is too deep is then not read again. */
  readonly isSeen?: (link: string) => boolean;
}

/** The links of a page, by what becomes of them. */
export interface SortedLinks {
  /** Those that the run follows: not too deep, within its scope, and matching its patterns. */
  readonly offers: readonly TaskOffer[];
  /** Those that only their depth excludes. */
  readonly tooDeep: readonly string[];
  /** Those outside its scope, or not matching its patterns. */
  readonly outOfScope: readonly string[];
}

/** Sorts links of a page. */
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

/** How deep the pages are that plain links lead to. The next page of a list is as deep as this one, if nobody has set the depth. */
export function plainDepth(
  { depth }: Pick<Task, 'depth'>,
  { hasDefaultDepth }: Pick<RunOptions, 'hasDefaultDepth'>,
  isNext: (link: string) => boolean = () => false,
): (link: string) => number {
  return (link) => depth + (hasDefaultDepth === true && isNext(link) ? 0 : 1);
}

/** Cuts what a crawler names as the links of one page to as many as a page may have. Each may be as long as any URL: a cursor is. */
export class LinkBudget {
  #links = 0;
  #length = 0;
  #isCut = false;

  /** Were some left out? */
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

/** The domain whose limit of hosts a link counts towards; nothing for the domain itself, its `www` and the page's host. */
function domainCounting(host: string, own: string, domainOf: (hostname: string) => string): string | undefined {
  const domain = domainOf(host.replace(/:\d+$/, ''));
  return host === own || host === domain || host === `www.${domain}` ? undefined : domain;
}

/** Without `include` patterns every URL is included; an `exclude` pattern that matches wins. */
function isWanted(href: string, { include = [], exclude }: RunOptions): boolean {
  if (include.length > 0 && !include.some((pattern) => matchesUrl(pattern, href))) return false;
  return excludingPattern(href, exclude) === undefined;
}

/** The first of the patterns that matches. */
export function excludingPattern(href: string, exclude: readonly string[] = []): string | undefined {
  return exclude.find((pattern) => matchesUrl(pattern, href));
}
