import { INITIAL_FIELDS } from '../../task/task/form.ts';
import { offerOf } from '../../task/task/offer.ts';
import type { TaskRequest } from '../../task/task/request.ts';
import type { Task } from '../../task/task/task.ts';
import { canonicalOf, isProblem, readUrl } from '../../task/url/url.ts';
import { argsOf } from '../args.ts';
import type { FolderMiddleware } from '../around/middleware.ts';
import type { AuthorsWork } from '../around/middleware-calls.ts';
import type { Kept } from '../condition.ts';
import type { Crawler, Step } from '../crawler.ts';
import type { Extract } from '../document/reading.ts';
import { FILE_STEP } from '../file-step.ts';
import { type FollowedRequest, requestOf } from '../followed-request.ts';
import { noStep } from '../graph.ts';
import { itemsIn } from '../items/record-items.ts';
import { linksIn } from '../leads/leads.ts';
import { type MadePageOptions, madePage } from '../made-page.ts';
import { Page } from '../page.ts';
import type { Following } from '../step-run.ts';
import { readThroughMiddleware } from './read-page.ts';
import { SavedRun, type TestedLink, type TestedRun } from './tested-run.ts';

/** What a crawler gets in a test besides pages. */
interface TestSurroundings {
  /** Where the page or the seeds start. Default: where their URLs start by the crawler's patterns. */
  readonly step?: string;
  /** What the links that led to the page or the seeds kept. */
  readonly kept?: Kept;
  /** The middleware of the crawler's folder, which this test can't know. */
  readonly middleware?: FolderMiddleware;
  /** The values of the crawler's secrets, for its middleware. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The run's arguments. */
  readonly args?: Readonly<Record<string, unknown>>;
}

/** A page for a test, by one of `html`, `json` and `page`. */
export interface SavedPage {
  /** The body of an HTML page. */
  readonly html?: string | Uint8Array;
  /** The body of a page of JSON: a text as it is, any other value written as JSON. */
  readonly json?: unknown;
  /** A page as it is, of `Page.fromHtml` say. */
  readonly page?: Page;
  /** Of the page. Default: `https://www.example.com/`. */
  readonly url?: string;
}

/** A page of a site that a crawler is tested with. */
export interface SavedAnswer extends SavedPage {
  /** It answers requests of this method alone, with this body if they have one. Default: all at its URL that no other page answers. */
  readonly method?: FollowedRequest['method'];
  readonly body?: FollowedRequest['body'];
}

/** One page that a crawler is tested with. */
export interface TestCrawlerOptions extends TestSurroundings, SavedPage {}

/** The pages of a site that a crawler with steps is tested with, its joins included. */
export interface TestRunOptions extends TestSurroundings {
  readonly pages: readonly SavedAnswer[];
  /** Where the crawl starts. Default: the crawler's `seeds`, or the first page. */
  readonly seeds?: readonly string[];
}

/** What a crawler makes of a page. */
export interface TestedPage {
  /** What its step emitted, as its schema reads it; for a crawler of one function, its `data`. */
  readonly items: readonly unknown[];
  readonly follows: readonly TestedLink[];
  /** Links that are not followed, since what they keep doesn't meet the condition of the step that they lead to. */
  readonly leftOut: readonly TestedLink[];
  /** Why a middleware skips the page; it has then no items. Left out if none does. */
  readonly skipped?: string;
}

/**
 * Runs a crawler on a page as a worker does, without network and store. What is left out by the run alone, by its scope say, is
 * among what it follows. With `pages`, on a whole site: from its seeds along all links, groups and joins included, and then scope
 * and depth hold as in a run without flags.
 *
 * @throws Error worded as the page's record would have it: file, line and message, or what the step may not do
 */
export async function testCrawler(crawler: Crawler, options: TestRunOptions): Promise<TestedRun>;
export async function testCrawler(crawler: Crawler, options: TestCrawlerOptions): Promise<TestedPage>;
export async function testCrawler(
  given: Crawler,
  options: TestCrawlerOptions | TestRunOptions,
): Promise<TestedPage | TestedRun> {
  const crawler = given.withMiddleware(options.middleware?.list ?? []);
  const { secrets = {} } = options;
  const work = { crawler, args: argsOf(crawler, options.args ?? {}), options: { crawler: crawler.name }, secrets };
  if ('pages' in options) return await testedRun(work, options);
  const read = await readThroughMiddleware(work, pageOf(crawler, options));
  if ('skip' in read) return { items: [], follows: [], leftOut: [], skipped: read.skip };
  return testedPage(crawler, read.page, read.extract);
}

async function testedRun(work: AuthorsWork, { pages, seeds, step: name, kept }: TestRunOptions): Promise<TestedRun> {
  const { crawler, args } = work;
  if (crawler.pageFunction !== undefined)
    throw new Error(`crawler ${crawler.name} has no steps: test its pages one by one, without \`pages\``);
  const saved = new Map<string, Page>();
  for (const each of pages) {
    const page = givenPage(each);
    const key = answerKey(page.url, requestFor(each, page.url));
    if (saved.has(key))
      throw new Error(
        `expected one page for each URL, got two of ${page.url}: say which \`url\`, or \`method\` and \`body\`, each has`,
      );
    saved.set(key, page);
  }
  const [first] = saved.values();
  if (first === undefined) throw new Error('expected pages to be a list of at least one page');
  const starts = seeds ?? (await crawler.seeds?.({ args })) ?? [first.url];
  const offers = starts.map((text) => {
    const url = readUrl(text);
    if (isProblem(url))
      throw new Error(`expected a seed such as https://www.example.com/, got "${text}": ${url.problem}`);
    const step = stepFor(crawler, name, url.href);
    expectKept(crawler, step, kept);
    return offerOf(
      url,
      { rules: [], urlKey: undefined },
      { ...INITIAL_FIELDS, step, ...(kept === undefined ? {} : { kept }) },
    );
  });
  return await new SavedRun(work, (task) => {
    const { url, request } = task;
    const page = saved.get(answerKey(url, request)) ?? saved.get(answerKey(url, undefined));
    return page?.at(task) ?? unsaved(task);
  }).crawl(offers);
}

/** What a saved page answers, if it isn't all requests. */
function requestFor({ method, body }: SavedAnswer, url: string): TaskRequest | undefined {
  return method === undefined && body === undefined ? undefined : requestOf({ url, method: method ?? 'GET', body });
}

/** By what the answer to a request is found. Its headers don't count: those of a form say where it was. */
function answerKey(url: string, request: TaskRequest | undefined): string {
  const { method = 'GET', body = '' } = request ?? {};
  return method === 'GET' ? canonicalOf(url) : `${canonicalOf(url)} ${method} ${body}`;
}

/** In the place of a page that isn't saved. */
function unsaved(task: Task): Page {
  return new Page(task, { finalUrl: task.url, status: 404, headers: {}, body: new Uint8Array(), durationMs: 0 });
}

function testedPage(crawler: Crawler, page: Page, { data, items, links, follows, unmet }: Extract): TestedPage {
  if (crawler.pageFunction === undefined)
    return {
      items: itemsIn({ data, items }),
      follows: linksOf(follows),
      leftOut: linksOf(unmet),
    };
  const own = (links ?? linksIn(page)).map((url) => ({ step: '', url }));
  return { items: itemsIn({ data }), follows: own, leftOut: [] };
}

function linksOf(followings: readonly Following[]): TestedLink[] {
  return followings.flatMap(({ step, links, kept, request }) =>
    links.map((url) => ({
      ...{ step: step.name, url },
      ...(request === undefined ? {} : { request }),
      ...(kept === undefined || step === FILE_STEP ? {} : { kept }),
    })),
  );
}

function pageOf(crawler: Crawler, options: TestCrawlerOptions): Page {
  const { kept } = options;
  const made = givenPage(options);
  const step = stepFor(crawler, options.step, made.url);
  expectKept(crawler, step, kept);
  return made.at({ ...made.task, step, ...(kept === undefined ? {} : { kept }) });
}

function expectKept(crawler: Crawler, step: string, kept: Kept = {}): void {
  const problem = keptProblem(crawler, step, kept);
  if (problem !== undefined) throw new Error(`kept: ${problem}`);
}

function givenPage(saved: SavedPage): Page {
  const { html, json, page } = saved;
  const given = [html, json, page].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw new Error(`expected testCrawler to get one of html, json and page, got ${given.length || 'none'}`);
  return page ?? madeOf(saved);
}

function madeOf({ html, json, url }: SavedPage): Page {
  const about: MadePageOptions = { ...(url === undefined ? {} : { url }) };
  const made =
    html === undefined
      ? madePage(typeof json === 'string' ? json : JSON.stringify(json), { ...about, contentType: 'application/json' })
      : madePage(html, about);
  return new Page(made.task, made.fetched);
}

/**
 * The step, as tasks name it, for a name that somebody gave, or for a URL.
 *
 * @throws Error if there is no such step
 */
export function stepFor(crawler: Crawler, name: string | undefined, url: string): string {
  if (name === undefined) return crawler.startOf(url);
  const step: Step | undefined = crawler.stepNamed(name);
  if (step !== undefined) return step.key;
  const names = crawler.steps.map((each) => each.name);
  if (names.length === 0) throw new Error(`crawler ${crawler.name} has no steps, got step ${name}`);
  throw new Error(`expected a step of crawler ${crawler.name}, got ${name}, ${noStep(name, names)}`);
}

/** What a step's `keeps` schema finds wrong with what a link kept; nothing if it fits. */
export function keptProblem(crawler: Crawler, key: string, kept: Kept): string | undefined {
  const step = crawler.step(key);
  const read = step?.keeps?.safeParse(kept);
  if (step === undefined || read === undefined || read.success) return undefined;
  const issues = read.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
  return `step ${step.name} expects ${issues.join('; ')}`;
}
