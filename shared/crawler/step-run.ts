import type { z } from 'zod';
import { shortened } from '../task/shortened.ts';
import type { TaskRequest } from '../task/task/request.ts';
import type { Failure } from '../task/task/retry-policy.ts';
import { MAX_URL_LENGTH } from '../task/url/url.ts';
import { type Kept, meets } from './condition.ts';
import type { Crawler, Step } from './crawler.ts';
import type { FollowHow, Link, Links } from './definition.ts';
import { CrawlerFault } from './failures/crawler-fault.ts';
import { type DownloadHow, downloadProblem, FILE_STEP } from './file-step.ts';
import { type FollowedRequest, requestOf } from './followed-request.ts';
import { noStep } from './graph.ts';
import { itemAsJson } from './items/item.ts';
import { MAX_PAGE_KEPT_BYTES, writtenKept } from './kept.ts';
import { hasOtherScheme } from './link-written.ts';
import type { Page } from './page.ts';

/** Links that a step follows together. */
export interface Following {
  readonly step: Step;
  readonly links: readonly string[];
  readonly kept: Kept | undefined;
  /** The request to send; undefined for a plain GET. */
  readonly request?: TaskRequest;
}

/** The result of a step. */
export interface StepOutcome {
  readonly items: readonly unknown[];
  readonly follows: readonly Following[];
  /** Links whose `kept` doesn't meet the condition of the step they lead to. */
  readonly unmet: readonly Following[];
  /** The step that ran: the task's own or a fallback. Undefined for a short crawler. */
  readonly by?: Step;
}

/** One call of a step for a page. Collects its items and links; emitting or following after the step has ended is an error. */
export class StepRun {
  readonly #crawler: Crawler;
  readonly #step: Step;
  readonly #page: Page;
  readonly #kept: Kept;
  readonly #args: unknown;
  readonly #failure: Failure | undefined;
  readonly #items: unknown[] = [];
  readonly #follows: Following[] = [];
  readonly #unmet: Following[] = [];
  #links = 0;
  #keptBytes = 0;
  #isOver = false;
  /** The first refusal. The step fails even if it catches the error. */
  #fault: CrawlerFault | undefined;

  /** @param failure the failure of the step that this fallback takes over from */
  constructor(crawler: Crawler, step: Step, page: Page, args: unknown, failure?: Failure) {
    this.#crawler = crawler;
    this.#step = step;
    this.#page = page;
    this.#kept = page.task.kept ?? {};
    this.#args = args;
    this.#failure = failure;
  }

  /** Calls the step's function. */
  begin(): unknown {
    const { run, keeps, name } = this.#step;
    const context = {
      page: this.#page,
      args: this.#args,
      failure: this.#failure,
      kept: keeps === undefined ? this.#kept : keptBy(keeps, this.#kept, `step ${name}`),
      follow: (step: string, links: Links, how?: FollowHow) => this.#say(() => this.#follow(step, links, how)),
      download: (links: Links, how?: DownloadHow) => this.#say(() => this.#download(links, how)),
      emit: (item: unknown) => this.#say(() => this.#emit(item)),
    };
    return (run as (about: typeof context) => unknown)(context);
  }

  /** Returns the result, once the step's function has ended. Throws the first refusal, if there was one. */
  end(): StepOutcome {
    this.#isOver = true;
    if (this.#fault !== undefined) throw this.#fault;
    return { items: this.#items, follows: this.#follows, unmet: this.#unmet, by: this.#step };
  }

  #say(what: () => void): void {
    if (this.#isOver) throw new CrawlerFault(`step ${this.#step.name} has ended: await all its asynchronous work`);
    try {
      what();
    } catch (error: unknown) {
      if (error instanceof CrawlerFault) this.#fault ??= error;
      throw error;
    }
  }

  #emit(item: unknown): void {
    const { record } = this.#step;
    if (this.#items.length === MOST_SAID) throw tooMany('emits', 'items');
    if (item === undefined || typeof item === 'function' || Array.isArray(item))
      throw new CrawlerFault(
        `emits ${Array.isArray(item) ? 'a list: emit each of its items' : item === undefined ? 'undefined' : 'a function'}`,
      );
    if (record === undefined) {
      this.#items.push(itemAsJson(item));
      return;
    }
    const read = judged(record, item);
    if (!read.success) throw new CrawlerFault(`an item: ${issueText(read.error, item)}`, 'schema');
    this.#items.push(itemAsJson(read.data));
  }

  #follow(name: string, links: Links, how: FollowHow | null = {}): void {
    const { to } = this.#step;
    if (typeof name !== 'string') throw new CrawlerFault(`follow: expected the name of a step, got ${String(name)}`);
    const given = keptIn(how ?? {});
    if (!to.includes(name)) {
      const isStep = this.#crawler.stepNamed(name) !== undefined;
      const why = isStep ? `which is not in its \`to\`` : noStep(name, to);
      throw new CrawlerFault(`follows links to ${name}, ${why}`);
    }
    const step = this.#crawler.stepNamed(name) as Step;
    this.#lead(step, links, () => this.#keptFor(step, given));
  }

  #download(links: Links, how: DownloadHow = {}): void {
    const { maxBytes } = how;
    const { session } = this.#step;
    const problem = downloadProblem(how);
    if (problem !== undefined) throw new CrawlerFault(`download: ${problem}`);
    this.#lead(FILE_STEP, links, () => ({
      from: this.#page.url,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(session === undefined ? {} : { session }),
    }));
  }

  /** @param keptOf returns the kept of the links; not called without links, since its values may be missing from the page as well */
  #lead(step: Step, links: Links, keptOf: () => Kept | undefined): void {
    const all = [links].flat() as readonly Link[];
    const urls = all.flatMap((link) => (isRequest(link) ? [] : this.#urlOf(link)));
    const requests = all.filter(isRequest).flatMap((each) => {
      const request = requestOf(each);
      return this.#urlOf(each.url).map((url) => ({
        step,
        links: [url],
        ...(request === undefined ? {} : { request }),
      }));
    });
    const follows = [...(urls.length === 0 ? [] : [{ step, links: urls }]), ...requests];
    if (follows.length === 0) return;
    this.#links += urls.length + requests.length;
    if (this.#links > MOST_SAID) throw tooMany('follows', 'links');
    const kept = keptOf();
    if (step.when !== undefined && !meets(kept ?? {}, step.when)) {
      for (const each of follows) this.#unmet.push({ ...each, kept });
      return;
    }
    const written = kept === undefined ? undefined : writtenKept(kept, step.name);
    if (written !== undefined) this.#weigh(written.bytes * (urls.length + requests.length));
    this.#weigh(
      requests.reduce((sum, { request }) => sum + (request === undefined ? 0 : JSON.stringify(request).length), 0),
    );
    for (const each of follows) this.#follows.push({ ...each, kept: written?.kept });
  }

  /** Returns the kept of links to a step, checked by that step's schema: the page's own, with the given values added. */
  #keptFor({ name, keeps }: Step, given: Kept | undefined): Kept | undefined {
    const unknown = given === undefined ? undefined : unknownIn(given, keeps);
    if (unknown !== undefined)
      throw new CrawlerFault(`links to ${name} keep ${unknown}, which the \`keeps\` of ${name} doesn't have`);
    const kept = given === undefined ? this.#kept : { ...this.#kept, ...given };
    if (keeps !== undefined) {
      const read = keeps.safeParse(kept);
      if (!read.success)
        throw new CrawlerFault(`the kept of links to ${name}: ${issueText(read.error, kept)}`, 'schema');
    }
    return Object.keys(kept).length === 0 ? undefined : kept;
  }

  #weigh(bytes: number): void {
    this.#keptBytes += bytes;
    if (this.#keptBytes <= MAX_PAGE_KEPT_BYTES) return;
    const what = `the links of this page keep ${this.#keptBytes} bytes together`;
    throw new CrawlerFault(`${what}, more than ${MAX_PAGE_KEPT_BYTES}`, 'too_large');
  }

  /** Leaves out links that can't be URLs, as for a page's own. Keeps one that is too long, so that the page's record says it was cut. */
  #urlOf(link: unknown): string[] {
    if (link === undefined || link === null) return [];
    if (typeof link !== 'string') throw new CrawlerFault(`expected links as strings or requests, got a ${typeof link}`);
    // A link that is never fetched can be very long: an image written as a `data:` URL, say.
    if (link.length > MAX_URL_LENGTH) return hasOtherScheme(link.trimStart()) ? [] : [link];
    // An absolute link doesn't need the page's base, so the page isn't parsed for it.
    const url = ABSOLUTE.test(link) ? URL.parse(link)?.href : this.#page.resolve(link);
    return url === undefined ? [] : [url];
  }
}

/** Maximum items that a step can emit, and links that it can follow, for a page. More suggest an endless loop: no record holds that many. */
const MOST_SAID = 1_000_000;

function tooMany(says: string, what: string): CrawlerFault {
  return new CrawlerFault(`${says} more than ${MOST_SAID} ${what} of one page: does its loop end?`, 'too_large');
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\//i;

function isRequest(link: Link): link is FollowedRequest {
  return typeof link === 'object' && link !== null;
}

/** Returns the `kept` option of `follow`. Checks the options at run time too: a misplaced one would otherwise be lost silently. */
function keptIn({ kept, ...others }: FollowHow): Kept | undefined {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new CrawlerFault(`follow: unknown option ${unknown}, expected { kept: { … } }`);
  if (kept === undefined || kept === null) return undefined;
  if (typeof kept === 'object' && !Array.isArray(kept)) return kept;
  throw new CrawlerFault(
    `follow: expected kept to be an object, got ${Array.isArray(kept) ? 'a list' : `a ${typeof kept}`}`,
  );
}

/**
 * Returns a page's kept, parsed by a step's schema. It may not fit: a URL that started at the step keeps nothing, and an older version of
 * the crawler may have kept something else.
 *
 * @throws CrawlerFault if the schema refuses it
 */
export function keptBy(keeps: z.ZodType, kept: Kept, by: string): unknown {
  const read = keeps.safeParse(kept);
  if (read.success) return read.data;
  throw new CrawlerFault(`the kept of ${by}: ${issueText(read.error, kept)}`, 'schema');
}

/** Returns the first field that a schema doesn't know; undefined if it knows them all, or if its fields can't be determined. */
function unknownIn(given: Kept, keeps: z.ZodType | undefined): string | undefined {
  if (keeps === undefined) return Object.keys(given)[0];
  // The schema may come from any copy of zod.
  const { shape, def } = keeps as {
    readonly shape?: object;
    readonly def: { readonly catchall?: { readonly type: string } };
  };
  if (def.catchall !== undefined && def.catchall.type !== 'never') return undefined;
  return shape === undefined ? undefined : Object.keys(given).find((name) => !(name in shape));
}

/**
 * Validates an item with a schema.
 *
 * @throws CrawlerFault if the schema is async
 */
export function judged(record: z.ZodType, item: unknown): z.ZodSafeParseResult<unknown> {
  try {
    return record.safeParse(item);
  } catch (error: unknown) {
    // Compared by name, since the schema may come from another copy of zod.
    if (error instanceof Error && error.constructor.name === '$ZodAsyncError')
      throw new CrawlerFault('its schema has something async: await that in the step, before it emits');
    throw error;
  }
}

const MOST_VALUE = 80;

/** Describes the first problem that a schema found: the field, the schema's message and the value. */
export function issueText({ issues }: z.ZodError, value: unknown): string {
  const [issue] = issues;
  if (issue === undefined) return 'it breaks its schema';
  const found = issue.path.reduce<unknown>(
    (at, key) => (at as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key],
    value,
  );
  const field = issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `;
  return `${field}${issue.message} (${shown(found)})`;
}

function shown(value: unknown): string {
  const text = value === undefined ? 'it is missing' : (JSON.stringify(value) ?? String(value));
  return shortened(text, MOST_VALUE);
}
