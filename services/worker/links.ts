import type { Offer } from '../../shared/frontier.ts';
import type { RunOptions } from '../../shared/runs.ts';
import { FIRST_STEP, markOf } from '../../shared/task/fingerprint.ts';
import { matchesUrl } from '../../shared/task/glob.ts';
import { type RoutingRule, routeOf } from '../../shared/task/routing.ts';
import { scopeTest } from '../../shared/task/scope.ts';
import type { Task } from '../../shared/task/task.ts';
import { isProblem, readUrl } from '../../shared/task/url.ts';
import { urlKeyOf } from '../../shared/task/url-key.ts';

interface FollowOptions {
  readonly task: Task;
  /** Of the page that the links stand in, after redirects. */
  readonly finalUrl: string;
  readonly options: RunOptions;
  readonly rules: readonly RoutingRule[];
  /** Needed for scope `domain` only. */
  readonly domainOf?: (hostname: string) => string;
}

/** The links of a page that its run follows: not too deep, within its scope, and wanted by its patterns. */
export function linksToFollow(
  links: readonly string[],
  { task, finalUrl, options, rules, domainOf = (hostname) => hostname }: FollowOptions,
): Offer[] {
  if (!options.follow || task.depth >= options.maxDepth) return [];
  const isInScope = scopeTest(options.scope ?? 'host', { ...task, host: new URL(task.url).host }, finalUrl, domainOf);
  const offers: Offer[] = [];
  for (const link of links) {
    const url = readUrl(link);
    const scope = isProblem(url) ? undefined : isInScope(url);
    if (isProblem(url) || scope === undefined || !isWanted(url.href, options)) continue;
    const { queue, deadlineMs } = routeOf(url.href, rules);
    const mark = markOf(urlKeyOf(url.canonical, options.urlKey));
    const depth = task.depth + 1;
    offers.push({ url: url.href, host: url.host, mark, step: FIRST_STEP, depth, ...scope, queue, deadlineMs });
  }
  return offers;
}

/** Without a pattern to include, all are; one that excludes wins. */
function isWanted(href: string, { include = [], exclude = [] }: RunOptions): boolean {
  if (include.length > 0 && !include.some((pattern) => matchesUrl(pattern, href))) return false;
  return !exclude.some((pattern) => matchesUrl(pattern, href));
}
