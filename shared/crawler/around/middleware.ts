import type { PageRecord } from '../../ports/record.ts';
import type { FollowedRequest } from '../followed-request.ts';
import type { Page } from '../page.ts';

/** What a middleware is told besides what it may change. It may run again for the same page, so it should have no side effects. */
export interface AboutPage {
  /** The URL that is asked for, or was. */
  readonly url: string;
  /** Nothing for a crawler of one function. */
  readonly step: string | undefined;
  /** Links followed from a seed. */
  readonly depth: number;
  /** What the links that led here kept. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** The run's arguments. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The values of the crawler's `secrets`, by name. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Ends the task as `skipped: middleware`, with this text as its detail. */
interface Skip {
  readonly skip: string;
}

/** An answer in the place of the host's. */
export interface GivenAnswer {
  readonly body: string | Uint8Array;
  /** Default: the type that the answer has, or `text/html`. */
  readonly contentType?: string;
  /** Default: the status that the answer has if it is 2xx, or 200. */
  readonly status?: number;
}

/**
 * What is sent instead: headers besides those of the request, another method or body, or a URL, as if the request had been
 * redirected there; the rest is then left out, since it is asked again. The page stays the same one: it is known by its own request.
 */
export interface ChangedRequest extends Partial<Omit<FollowedRequest, 'url'>> {
  readonly url?: string;
}

/** A request as a middleware sees it, without credentials and cookies. */
export interface RequestInSight {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What of a record may be changed before it is stored. */
type ChangedRecord = Partial<Pick<StoredPage, 'data' | 'title' | 'content'>>;

/** The record of a page that is done. */
export type StoredPage = Extract<PageRecord, { readonly outcome: 'done' }>;

type Item = Readonly<Record<string, unknown>>;
type Maybe<T> = T | undefined | void | Promise<T | undefined> | Promise<void>;

/**
 * What is done around the steps of a crawler, or of all crawlers of a folder. Each function may be left out; one that returns nothing
 * changes nothing. They run in the order of their weights, and those of one weight in the order of their definition, the folder's
 * before the crawler's.
 *
 * | function      | called                                                  | may return                                              |
 * |---------------|---------------------------------------------------------|---------------------------------------------------------|
 * | `beforeFetch` | before each request, those of redirects included        | `{ headers, method, body, url }`, `{ answer }` in place of a request, `{ skip }` |
 * | `afterFetch`  | with each answer that is no redirect                    | `{ answer }` in its place, `{ skip }`                   |
 * | `transform`   | with each item that is an object, once its step is over | the item in its place, `null`: there is none            |
 * | `beforeStore` | with the record of a page                               | `{ data, title, content }` in place of its own, `{ skip }` |
 */
export interface Middleware {
  /** Named in failures. */
  readonly name: string;
  /** The lightest run first. Default: 0. */
  readonly weight?: number;
  beforeFetch?(
    request: RequestInSight,
    about: AboutPage,
  ): Maybe<ChangedRequest | { readonly answer: GivenAnswer } | Skip>;
  afterFetch?(page: Page, about: AboutPage): Maybe<{ readonly answer: GivenAnswer } | Skip>;
  transform?(item: Item, about: AboutPage & { readonly page: Page }): Maybe<Item | null>;
  beforeStore?(record: StoredPage, about: AboutPage): Maybe<ChangedRecord | Skip>;
}

/** The functions that a middleware may have. */
const HOOKS = ['beforeFetch', 'afterFetch', 'transform', 'beforeStore'] as const;
export type Hook = (typeof HOOKS)[number];

/** The middleware of a folder's crawlers: the default export of its `middleware.ts`. */
export class FolderMiddleware {
  readonly list: readonly Middleware[];

  constructor(list: readonly Middleware[]) {
    this.list = list;
  }
}

/** Defines the middleware of all crawlers of a folder: `export default defineMiddleware({ … }, { … })` in its `middleware.ts`. */
export function defineMiddleware(...list: readonly Middleware[]): FolderMiddleware {
  return new FolderMiddleware(list);
}

/** In the order in which they run. */
export function inOrder(list: readonly Middleware[]): readonly Middleware[] {
  return [...list].sort((a, b) => (a.weight ?? 0) - (b.weight ?? 0));
}

/** What is wrong with the middleware of a crawler or a folder, each as a sentence. */
export function middlewareProblems(given: unknown): readonly string[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return ['expected middleware to be a list'];
  return given.flatMap((each: unknown, at) => {
    if (typeof each !== 'object' || each === null) return [`middleware ${at + 1}: expected an object`];
    const written = each as Readonly<Record<string, unknown>>;
    const { name, weight = 0, ...others } = written;
    if (typeof name !== 'string' || name === '') return [`middleware ${at + 1}: expected a name`];
    const unknown = Object.keys(others).filter((hook) => !HOOKS.includes(hook as Hook));
    const wrong = HOOKS.filter((hook) => written[hook] !== undefined && typeof written[hook] !== 'function');
    const isEmpty = HOOKS.every((hook) => written[hook] === undefined);
    return [
      ...unknown.map((hook) => `there is no ${hook}; there are ${HOOKS.join(', ')}`),
      ...wrong.map((hook) => `expected ${hook} to be a function`),
      ...(typeof weight === 'number' && Number.isFinite(weight) ? [] : ['expected weight to be a number']),
      ...(isEmpty && unknown.length === 0 ? [`expected one of ${HOOKS.join(', ')}`] : []),
    ].map((problem) => `middleware ${name}: ${problem}`);
  });
}
