import type { Offer } from '../../shared/frontier.ts';
import type { RunOptions } from '../../shared/runs.ts';
import { FIRST_STEP, markOf } from '../../shared/task/fingerprint.ts';
import { type RoutingRule, routeOf } from '../../shared/task/routing.ts';
import type { Task } from '../../shared/task/task.ts';
import { isProblem, readUrl } from '../../shared/task/url.ts';

/**
 * The links of a page that its run follows: not too deep, and to the same host. A seed that redirects elsewhere, to its
 * `www` say, has its new host followed too.
 */
export function linksToFollow(
  links: readonly string[],
  {
    task,
    finalUrl,
    options,
    rules,
  }: { task: Task; finalUrl: string; options: RunOptions; rules: readonly RoutingRule[] },
): Offer[] {
  if (!options.follow || task.depth >= options.maxDepth) return [];
  const hosts = new Set([task.host]);
  if (task.depth === 0) hosts.add(new URL(finalUrl).host);
  const offers: Offer[] = [];
  for (const link of links) {
    const url = readUrl(link);
    if (isProblem(url) || !hosts.has(url.host)) continue;
    const { queue, deadlineMs } = routeOf(url.href, rules);
    const mark = markOf(url.canonical);
    offers.push({ url: url.href, host: url.host, mark, step: FIRST_STEP, depth: task.depth + 1, queue, deadlineMs });
  }
  return offers;
}
