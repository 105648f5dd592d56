import type { FetchedPage } from '../../ports/fetcher.ts';
import type { Task } from '../../task/task/task.ts';
import type { Crawler } from '../crawler.ts';
import type { CrawlerAtWork, Extract } from '../document/reading.ts';
import { type AboutCall, MAX_MESSAGE_LENGTH, ProblemError } from '../failures/step-error.ts';
import { itemAsJson } from '../items/item.ts';
import { Page } from '../page.ts';
import { changedBy, type RequestInMaking } from './changed-request.ts';
import type { AboutPage, ChangedRequest, GivenAnswer, Hook, Middleware, StoredPage } from './middleware.ts';

/** Calls an author's function with a time limit, and turns anything it throws into a StepError. */
export type CallAuthor = <T>(about: AboutCall, begin: () => unknown, end: (result: unknown) => T) => Promise<T>;

/** A crawler at work, with its secrets from the environment. */
export interface AuthorsWork extends CrawlerAtWork {
  readonly secrets?: Readonly<Record<string, string>>;
}

/** The page that the middleware is called for. */
export interface OnPage {
  readonly work: AuthorsWork;
  readonly task: Task;
  readonly url: string;
  readonly call: CallAuthor;
}

/** The result of all `beforeFetch`: a skip, an answer, another URL or the request to send. */
export type BeforeRequest =
  | { readonly skip: string }
  | { readonly answer: FetchedPage }
  | { readonly url: string }
  | { readonly request: RequestInMaking };

const BEFORE_FETCH = ['skip', 'answer', 'url', 'headers', 'method', 'body', 'idempotent'];

/** Returns whether a crawler has middleware with this hook. Most have none, and pay nothing. */
export function hasHook({ middleware }: Crawler, hook: Hook): boolean {
  return middleware.some((each) => each[hook] !== undefined);
}

/** Runs all `beforeFetch`, each on the request as changed by those before it. Stops at the first that skips, answers or names another URL. */
export async function beforeFetch(on: OnPage, given: RequestInMaking): Promise<BeforeRequest> {
  let request = given;
  for (const each of having(on, 'beforeFetch')) {
    const { seen } = request;
    const changed = await run(
      on,
      each,
      'beforeFetch',
      BEFORE_FETCH,
      (about) => each.beforeFetch?.(seen, about),
      (result) => {
        if ('skip' in result) return skipOf(result.skip);
        if ('answer' in result) return { answer: answerOf(result.answer, seen.url) };
        const url = result.url === undefined ? seen.url : urlOf(result.url, seen.url);
        return url === seen.url ? { request: changedBy(result as ChangedRequest, request) } : { url };
      },
    );
    if (changed === undefined) continue;
    if (!('request' in changed)) return changed;
    request = changed.request;
  }
  return { request };
}

/** Runs all `afterFetch`, each on the answer as changed by those before it. */
export async function afterFetch(
  on: OnPage,
  fetched: FetchedPage,
): Promise<{ readonly skip: string } | { readonly fetched: FetchedPage }> {
  let now = fetched;
  for (const each of having(on, 'afterFetch')) {
    const page = new Page(on.task, now);
    const result = await run(on, each, 'afterFetch', ['skip', 'answer'], (about) => each.afterFetch?.(page, about));
    if (result === undefined) continue;
    if ('skip' in result) return skipOf(result.skip);
    if ('answer' in result) now = answerOf(result.answer, now.finalUrl, now);
  }
  return { fetched: now };
}

/** Runs all `transform` on each item of a page. */
export async function transform(on: OnPage, page: Page, extract: Extract): Promise<Extract> {
  const hooks = having(on, 'transform');
  const { data, items: count } = extract;
  if (hooks.length === 0 || data === undefined || data === null) return extract;
  const all = count !== undefined && count > 1 ? (data as readonly unknown[]) : [data];
  const kept: unknown[] = [];
  for (let item of all) {
    for (const each of hooks) {
      if (typeof item !== 'object' || item === null) break;
      const given = item as Readonly<Record<string, unknown>>;
      item = await call(
        on,
        each,
        'transform',
        (about) => each.transform?.(given, { ...about, page }),
        (returned) => {
          if (returned === null) return null;
          // The middleware may have changed the item in place.
          if (returned === undefined) return itemAsJson(given);
          if (typeof returned === 'object' && !Array.isArray(returned)) return itemAsJson(returned);
          throw new ProblemError('expected it to return an item, nothing or null');
        },
      );
    }
    if (item !== null) kept.push(item);
  }
  if (count === undefined) return { ...extract, data: kept[0] ?? null };
  return { ...extract, data: kept.length > 1 ? kept : (kept[0] ?? null), items: kept.length };
}

/** Runs all `beforeStore` on the record of a page. */
export async function beforeStore<Stored extends StoredPage>(
  on: OnPage,
  record: Stored,
): Promise<{ readonly skip: string } | { readonly record: Stored }> {
  let now = record;
  for (const each of having(on, 'beforeStore')) {
    const result = await run(
      on,
      each,
      'beforeStore',
      ['skip', 'data', 'title', 'content'],
      (about) => each.beforeStore?.(now, about),
      storable,
    );
    if (result === undefined) continue;
    if ('skip' in result) return skipOf(result.skip);
    now = { ...now, ...result } as Stored;
  }
  return { record: now };
}

type Returned = {
  readonly skip?: unknown;
  readonly answer?: unknown;
  readonly url?: unknown;
  readonly data?: unknown;
  readonly title?: unknown;
  readonly content?: unknown;
};

/** Checks the changes to a record. A sink that was given a record it can't store would accept no more records at all. */
function storable(changed: Returned): Returned {
  const { title = null, content = '' } = changed;
  if (title !== null && typeof title !== 'string') throw new ProblemError('expected title to be a text or null');
  if (typeof content !== 'string') throw new ProblemError('expected content to be a text');
  return 'data' in changed ? { ...changed, data: itemAsJson(changed.data, 'data') } : changed;
}

function having({ work }: OnPage, hook: Hook): readonly Middleware[] {
  return work.crawler.middleware.filter((each) => each[hook] !== undefined);
}

/** Calls a hook that returns nothing or an object with some of these fields. @param end turns that object into the result */
function run<T = Returned>(
  on: OnPage,
  middleware: Middleware,
  hook: Hook,
  fields: readonly string[],
  begin: (about: AboutPage) => unknown,
  end: (result: Returned) => T = (result) => result as T,
): Promise<T | undefined> {
  return call(on, middleware, hook, begin, (returned) => {
    if (returned === undefined) return undefined;
    if (typeof returned !== 'object' || returned === null)
      throw new ProblemError(`expected it to return nothing, or an object of ${fields.join(', ')}`);
    const unknown = Object.keys(returned).find((name) => !fields.includes(name));
    if (unknown !== undefined) throw new ProblemError(`it returned ${unknown}; there are ${fields.join(', ')}`);
    const result = checked(returned as Returned);
    return Object.keys(result).length === 0 ? undefined : end(result);
  });
}

/** Checks `skip` and `answer` while the middleware's call lasts, so that an error names the middleware. */
function checked(returned: Returned): Returned {
  const { skip, answer } = returned;
  if ('skip' in returned && typeof skip !== 'string')
    throw new ProblemError('expected skip to be a text that says why');
  if ('answer' in returned) answerOf(answer, 'http://a.invalid/');
  return returned;
}

function call<T>(
  { work, task, url, call: callAuthor }: OnPage,
  { name }: Middleware,
  hook: Hook,
  begin: (about: AboutPage) => unknown,
  end: (result: unknown) => T,
): Promise<T> {
  const { crawler, args, options, secrets = {} } = work;
  const step = crawler.step(task.step)?.name;
  const { depth, kept = {} } = task;
  const about = { url, step, depth, kept, args: (args ?? {}) as AboutPage['args'], secrets };
  return callAuthor({ crawler: options.crawler, part: `middleware ${name} (${hook})` }, () => begin(about), end);
}

function skipOf(why: unknown): { readonly skip: string } {
  return { skip: String(why).slice(0, MAX_MESSAGE_LENGTH) };
}

function urlOf(given: unknown, base: string): string {
  const url = typeof given === 'string' ? URL.parse(given, base) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ProblemError('expected url to be an http or https URL');
  return url.href;
}

function answerOf(given: unknown, finalUrl: string, before?: FetchedPage): FetchedPage {
  const { body, contentType, status, ...others } = (given ?? {}) as Partial<GivenAnswer>;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw new ProblemError(`its answer has ${unknown}; there are body, contentType, status`);
  const isText = typeof body === 'string';
  if (!isText && !(body instanceof Uint8Array))
    throw new ProblemError('expected the body of its answer to be text or bytes');
  if (contentType !== undefined && typeof contentType !== 'string')
    throw new ProblemError('expected the contentType of its answer to be a text');
  const isFine = (each: number): boolean => Number.isInteger(each) && each >= 200 && each <= 299;
  if (status !== undefined && !isFine(status)) throw new ProblemError('expected the status of its answer to be 2xx');
  const type = contentType ?? before?.headers['content-type'] ?? 'text/html';
  // Text is sent on as UTF-8, whatever encoding the answer had.
  const withCharset = isText ? `${type.replace(/;.*$/s, '')}; charset=utf-8` : type;
  return {
    finalUrl,
    status: status ?? (before !== undefined && isFine(before.status) ? before.status : 200),
    headers: { ...before?.headers, 'content-type': withCharset },
    body: isText ? Buffer.from(body) : body,
    durationMs: before?.durationMs ?? 0,
  };
}
