import type { Redirect } from '../../shared/task/redirect.ts';
import { scopeTest } from '../../shared/task/scope.ts';
import { canonicalOf } from '../../shared/task/url.ts';
import { domainFinder } from './domains.ts';
import { type Ending, redirectsOf, type Visit } from './visit.ts';

/** Some sites send a client back to where it was, once, to see whether it takes their cookie. */
const MOST_RETURNS = 1;

/**
 * Whether a redirect is followed, and if not, what its task comes to.
 *
 * | the redirect leads                        | outcome             |
 * |-------------------------------------------|---------------------|
 * | on, more often than is allowed            | `failed: redirects` |
 * | to where it came from, a second time      | `failed: redirects` |
 * | to no http URL                            | `failed: redirects` |
 * | out of scope, from a link that was followed | `skipped: scope`  |
 * | anywhere else                             | it is asked next    |
 *
 * A seed may lead anywhere: whoever names a site wants what it has moved to.
 */
export async function followed(
  visit: Visit,
  redirect: Redirect,
  { maxRedirects, status }: { readonly maxRedirects: number; readonly status: number },
): Promise<{ to: string } | { ending: Ending }> {
  const failed = (detail: string): { ending: Ending } => ({
    ending: { outcome: { kind: 'failed', reason: 'redirects', detail }, hostAnswered: true, status },
  });
  if ('problem' in redirect) return failed(redirect.problem);
  const { to } = redirect;
  const before = redirectsOf(visit);
  if (before.length >= maxRedirects) return failed(`The request was redirected more than ${maxRedirects} times`);
  const returns = [visit.task.url, ...before].filter((url) => canonicalOf(url) === canonicalOf(to)).length;
  if (returns > MOST_RETURNS) return failed(`The request was redirected in a circle, to ${to}`);
  if (await isInScope(visit, to)) return { to };
  const outcome = { kind: 'skipped', reason: 'scope', detail: `redirected to ${to}` } as const;
  return { ending: { outcome, hostAnswered: true, status } };
}

async function isInScope({ task, run }: Visit, to: string): Promise<boolean> {
  if (task.depth === 0) return true;
  const { scope = 'host' } = run.options;
  const own = { ...task, host: new URL(task.url).host };
  const test = scopeTest(scope, own, task.url, await domainFinder(scope));
  return test({ href: to, host: new URL(to).host }) !== undefined;
}
