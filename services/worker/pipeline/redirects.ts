import { FILE_STEP } from '../../../shared/crawler/file-step.ts';
import { domainFinder } from '../../../shared/crawler/leads/domains.ts';
import { shortened } from '../../../shared/task/shortened.ts';
import type { Outcome } from '../../../shared/task/task/outcome.ts';
import { excludingPattern } from '../../../shared/task/url/glob.ts';
import type { Redirect } from '../../../shared/task/url/redirect.ts';
import { isSeed, scopeTest } from '../../../shared/task/url/scope.ts';
import { canonicalOf, hostKeyOf, MAX_URL_LENGTH } from '../../../shared/task/url/url.ts';
import { type Ending, type Move, redirectsOf, stepOf, type Visit } from './visit.ts';

/** Maximum characters of all of a task's redirects: they travel in its message, whose size is limited. */
const MAX_REDIRECTS_LENGTH = 131_072;
/** Maximum characters of a pattern in a record. */
const MOST_PATTERN_SHOWN = 200;
/** Allowed returns to the same URL. Some sites redirect a client back once, to see whether it accepts their cookie. */
const MOST_RETURNS = 1;
/** Allowed returns if the answer sets a cookie, which might be the second or third one. */
const MOST_RETURNS_WITH_COOKIES = 3;

/**
 * Decides whether a redirect is followed, and if not, how its task ends.
 *
 * | the redirect leads                        | outcome             |
 * |-------------------------------------------|---------------------|
 * | on, beyond the number allowed             | `failed: redirects` |
 * | to a URL visited before, a second time (a fourth, if the answer sets cookies) | `failed: redirects` |
 * | to a URL that isn't http, or is too long  | `failed: redirects` |
 * | out of scope, from a followed link        | `skipped: scope`    |
 * | to a URL that `exclude` matches, from a followed link or a file | `skipped: scope` |
 * | anywhere else                             | requested next      |
 *
 * A seed may redirect anywhere: anybody who names a site wants it found at its new address. So may a file, unless
 * the URL is excluded, since steps can ask for files anywhere.
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
 * Returns the outcome of a redirect out of scope, with the rule that forbids it; nothing if the task may be redirected to `to`. A seed may
 * be redirected anywhere; a file, to any URL that isn't excluded; a followed link, only to one that is also within the scope of its step,
 * or of the run.
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
 * Returns whether a redirect leads to the same URL in its site's preferred spelling: with https, with or without `www.` or a trailing
 * slash. If that URL is known, so is its page. Any other known URL could be a way in, which sets a cookie and leads back.
 */
export function isRespelt(from: string, to: string): boolean {
  return spelling(from) === spelling(to);
}

function spelling(url: string): string {
  const { host, pathname, search } = new URL(url);
  return `${host.replace(/^www\./, '')}${pathname.replace(/\/$/, '')}${search}`;
}
