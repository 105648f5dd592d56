import type { Redirect } from '../../../shared/task/url/redirect.ts';
import { scopeTest } from '../../../shared/task/url/scope.ts';
import { canonicalOf, MAX_URL_LENGTH } from '../../../shared/task/url/url.ts';
import { domainFinder } from './domains.ts';
import { type Ending, redirectsOf, type Visit } from './visit.ts';

/** Redirects travel with their task, in a message that has a size. */
const MAX_REDIRECTS_LENGTH = 131_072;
/** Some sites send a client back to where it was, once, to see whether it takes their cookie. */
const MOST_RETURNS = 1;

/**
 * Whether a redirect is followed, and if not, its task's outcome.
 *
 * | the redirect leads                        | outcome             |
 * |-------------------------------------------|---------------------|
 * | on, more often than is allowed            | `failed: redirects` |
 * | to where it came from, a second time      | `failed: redirects` |
 * | to no http URL, or one that is too long   | `failed: redirects` |
 * | out of scope, from a link that was followed | `skipped: scope`  |
 * | anywhere else                             | it is asked next    |
 *
 * A seed may lead anywhere: whoever names a site wants its new place.
 */
export async function followed(
  visit: Visit,
  redirect: Redirect,
  { maxRedirects, status }: { readonly maxRedirects: number; readonly status: number },
): Promise<{ to: string; login?: string } | { ending: Ending }> {
  const failed = (detail: string): { ending: Ending } => ({
    ending: { outcome: { kind: 'failed', reason: 'redirects', detail }, hostAnswered: true, status },
  });
  if ('problem' in redirect) return failed(redirect.problem);
  const { to } = redirect;
  const before = redirectsOf(visit);
  if (before.length >= maxRedirects) return failed(`The request was redirected more than ${maxRedirects} times`);
  if (to.length > MAX_URL_LENGTH)
    return failed(`The redirect leads to a URL of more than ${MAX_URL_LENGTH} characters`);
  if ([...before, to].reduce((sum, url) => sum + url.length, 0) > MAX_REDIRECTS_LENGTH)
    return failed(`The URLs that the request was redirected to have more than ${MAX_REDIRECTS_LENGTH} characters`);
  const returns = [visit.task.url, ...before].filter((url) => canonicalOf(url) === canonicalOf(to)).length;
  if (returns > MOST_RETURNS) return failed(`The request was redirected in a circle, to ${to}`);
  if (await isInScope(visit, to)) return redirect;
  return { ending: { outcome: outOfScope(to), hostAnswered: true, status } };
}

/** The outcome of a redirect out of scope. */
export function outOfScope(to: string) {
  return { kind: 'skipped', reason: 'scope', detail: `redirected to ${to}` } as const;
}

/** Where a seed leads is; where a link leads that was followed must be in the scope of its run. */
export async function isInScope({ task, run }: Visit, to: string): Promise<boolean> {
  if (task.depth === 0) return true;
  const { scope = 'host' } = run.options;
  const own = { ...task, host: new URL(task.url).host };
  const test = scopeTest(scope, own, task.url, await domainFinder(scope));
  return test({ href: to, host: new URL(to).host }) !== undefined;
}
