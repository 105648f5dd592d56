import type { Offer } from '../../shared/frontier.ts';
import { FIRST_STEP, markOf } from '../../shared/task/fingerprint.ts';
import { type RoutingRule, routeOf } from '../../shared/task/routing.ts';
import { isProblem, readUrl } from '../../shared/task/url.ts';

/** What the frontier is offered for a seed's URL, as it was written. This runs once per URL of every sitemap. */
export function offerOf(text: string, rules: readonly RoutingRule[]): Offer {
  const url = readUrl(text);
  if (isProblem(url)) return { malformed: text, problem: url.problem };
  const { href, canonical, host } = url;
  const { queue, deadlineMs } = routeOf(href, rules);
  return { url: href, host, mark: markOf(canonical), step: FIRST_STEP, depth: 0, queue, deadlineMs };
}
