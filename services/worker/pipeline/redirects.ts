import { FILE_STEP } from '../../../shared/crawler/file-step.ts';
import { domainFinder } from '../../../shared/crawler/leads/domains.ts';
import { excludingPattern } from '../../../shared/crawler/leads/links.ts';
import { shortened } from '../../../shared/task/shortened.ts';
import type { Outcome } from '../../../shared/task/task/outcome.ts';
import type { Redirect } from '../../../shared/task/url/redirect.ts';
import { isSeed, scopeTest } from '../../../shared/task/url/scope.ts';
import { canonicalOf, hostKeyOf, MAX_URL_LENGTH } from '../../../shared/task/url/url.ts';
import { type Ending, type Move, redirectsOf, stepOf, type Visit } from './visit.ts';

/** Characters of all a task's redirects: they travel in its message, whose size is limited. */
const MAX_REDIRECTS_LENGTH = 131_072;
/** Characters of a pattern that a record shows. */
const MOST_PATTERN_SHOWN = 200;
/** Some sites redirect a client back to the same URL once, to see whether it accepts their cookie. */
const MOST_RETURNS = 1;
/** The same if the answer sets one: it may be the second or third. */
const MOST_RETURNS_WITH_COOKIES = 3;

/**
 * Decides whether a redirect is followed, and if not, how its task ends.
 *
 * | the redirect leads                        | outcome             |
 * |-------------------------------------------|---------------------|
 * | on, beyond the number allowed             | `failed: redirects` |
 * | to a URL visited before, a second time (a fourth, if the answer sets cookies) | `failed: redirects` |
 * | to no http URL, or one that is too long   | `failed: redirects` |
 * | out of scope, from a followed link        | `skipped: scope`    |
 * | to what `exclude` matches, from a followed link or a file | `skipped: scope` |
 * | anywhere else                             | requested next      |
 *
 * A seed may redirect anywhere: somebody who names a site means it to be found at its new address. So may a file, which a step
 * may ask for wherever it is.
 */
export async function followed(
  visit: Visit,
  redirect: Redirect,
  { maxRedirects, status, cookies }: { readonly maxRedirects: number } & Pick<Move, 'status' | 'cookies'>,
): Promise<Move | { ending: Ending }> {
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
  const most = cookies === undefined ? MOST_RETURNS : MOST_RETURNS_WITH_COOKIES;
  if (returns > most) return failed(`The request was redirected in a circle, to ${to}`);
  const outcome = await outOfScope(visit, to);
  if (outcome !== undefined) return { ending: { outcome, hostAnswered: true, status } };
  return { ...redirect, status, ...(cookies === undefined ? {} : { cookies }) };
}

/**
 * The outcome of a redirect out of scope, by what forbids it; nothing if the task may be redirected to `to`. A seed may, to anywhere; a
 * file, to anything that isn't excluded; a followed link, only within its step's scope, or the run's, as well.
 */
export async function outOfScope(visit: Visit, to: string): Promise<Extract<Outcome, { kind: 'skipped' }> | undefined> {
  const { task, run } = visit;
  if (isSeed(task)) return undefined;
  const step = stepOf(visit);
  const { scope = run.options.scope ?? 'host', exclude = run.options.exclude } = step ?? {};
  const left = (rule: string, isOfStep: boolean) => {
    const of = isOfStep ? `, of step ${step?.name}` : '';
    return { kind: 'skipped', reason: 'scope', detail: `redirected to ${to} (${rule}${of})` } as const;
  };
  const pattern = excludingPattern(to, exclude);
  if (pattern !== undefined)
    return left(`excluded by ${shortened(pattern, MOST_PATTERN_SHOWN)}`, step?.exclude !== undefined);
  if (task.step === FILE_STEP.key) return undefined;
  const own = { ...task, host: hostKeyOf(new URL(task.url)) };
  const test = scopeTest(scope, own, task.url, await domainFinder(scope));
  if (test({ href: to, host: hostKeyOf(new URL(to)) }) !== undefined) return undefined;
  return left(`outside scope ${scope}`, step?.scope !== undefined);
}

/**
 * Does a redirect lead to the same URL as its site writes it: with https, with or without `www.` or a slash at the end? If that
 * URL is known, its page is, too. Any other known URL may be a way in, which sets a cookie and leads back.
 */
export function isRespelt(from: string, to: string): boolean {
  return spelling(from) === spelling(to);
}

function spelling(url: string): string {
  const { host, pathname, search } = new URL(url);
  return `${host.replace(/^www\./, '')}${pathname.replace(/\/$/, '')}${search}`;
}
