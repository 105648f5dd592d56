import type { PageRecord } from '../../ports/record.ts';
import type { FollowedRequest } from '../followed-request.ts';
import type { Page } from '../page.ts';

/** What a middleware knows of a page. A middleware may run again for the same page, so it should have no side effects. */
export interface AboutPage {
  /** The URL being requested, or already requested. */
  readonly url: string;
  /** The page's step; undefined for a crawler of one function. */
  readonly step: string | undefined;
  /** Number of links followed from a seed. */
  readonly depth: number;
  /** The `kept` of the links that led here. */
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

/** An answer that replaces the host's. */
export interface GivenAnswer {
  readonly body: string | Uint8Array;
  /** Default: the type of the answer it replaces, or `text/html`. */
  readonly contentType?: string;
  /** Default: the status of the answer it replaces if that is 2xx, or 200. */
  readonly status?: number;
}

/**
 * Changes to a request: further headers, another method or body, or another URL, as if the request had been redirected there. With another
 * URL, all other changes are ignored, since the middleware is called again for it. The page keeps its identity, that of its own request.
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

/** The fields of a record that can be changed before it is stored. */
type ChangedRecord = Partial<Pick<StoredPage, 'data' | 'title' | 'content'>>;

/** The record of a page that is done. */
export type StoredPage = Extract<PageRecord, { readonly outcome: 'done' }>;

type Item = Readonly<Record<string, unknown>>;
type Maybe<T> = T | undefined | void | Promise<T | undefined> | Promise<void>;

/**
 * Functions around the steps of a crawler, or of all crawlers in a folder. All of them are optional; one that returns nothing changes
 * nothing. Middleware runs in order of weight, then in order of definition, the folder's before the crawler's.
 *
 * | function      | called                                                  | can return                                              |
 * |---------------|---------------------------------------------------------|---------------------------------------------------------|
 * | `beforeFetch` | before each request, those of redirects included        | `{ headers, method, body, url }`, `{ answer }` in place of a request, `{ skip }` |
 * | `afterFetch`  | with each answer that isn't a redirect                  | `{ answer }` in its place, `{ skip }`                   |
 * | `transform`   | with each item that is an object, after its step        | an item in its place, `null` to drop it                 |
 * | `beforeStore` | with the record of a page                               | `{ data, title, content }` in place of its own, `{ skip }` |
 */
export interface Middleware {
  /** Its name in error messages. */
  readonly name: string;
  /** Lower weights run first. Default: 0. */
  readonly weight?: number;
  beforeFetch?(
    request: RequestInSight,
    about: AboutPage,
  ): Maybe<ChangedRequest | { readonly answer: GivenAnswer } | Skip>;
  afterFetch?(page: Page, about: AboutPage): Maybe<{ readonly answer: GivenAnswer } | Skip>;
  transform?(item: Item, about: AboutPage & { readonly page: Page }): Maybe<Item | null>;
  beforeStore?(record: StoredPage, about: AboutPage): Maybe<ChangedRecord | Skip>;
}

/** The functions that a middleware can have. */
const HOOKS = ['beforeFetch', 'afterFetch', 'transform', 'beforeStore'] as const;
export type Hook = (typeof HOOKS)[number];

/** The middleware of all crawlers in a folder: the default export of its `middleware.ts`. */
export class FolderMiddleware {
  readonly list: readonly Middleware[];

  constructor(list: readonly Middleware[]) {
    this.list = list;
  }
}

/** Defines the middleware of all crawlers in a folder: `export default defineMiddleware({ … }, { … })` in its `middleware.ts`. */
export function defineMiddleware(...list: readonly Middleware[]): FolderMiddleware {
  return new FolderMiddleware(list);
}

/** Sorts middleware in the order of execution. */
export function inOrder(list: readonly Middleware[]): readonly Middleware[] {
  return [...list].sort((a, b) => (a.weight ?? 0) - (b.weight ?? 0));
}

/** Returns every problem with the middleware of a crawler or a folder, a sentence each. */
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
