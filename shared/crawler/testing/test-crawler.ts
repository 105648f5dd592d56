import { INITIAL_FIELDS } from '../../task/task/form.ts';
import { offerOf } from '../../task/task/offer.ts';
import type { TaskRequest } from '../../task/task/request.ts';
import type { Task } from '../../task/task/task.ts';
import { canonicalOf, isProblem, readUrl } from '../../task/url/url.ts';
import { argsOf } from '../args.ts';
import type { FolderMiddleware } from '../around/middleware.ts';
import type { AuthorsWork } from '../around/middleware-calls.ts';
import type { Kept } from '../condition.ts';
import { type Crawler, isCrawler, type Step } from '../crawler.ts';
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

/** The options of a test besides its pages. */
interface TestSurroundings {
  /** The step where the page or the seeds start. Default: by the crawler's patterns. */
  readonly step?: string;
  /** The `kept` of the links that led to the page or the seeds. */
  readonly kept?: Kept;
  /** The middleware of the crawler's folder, which isn't loaded in a test. */
  readonly middleware?: FolderMiddleware;
  /** The values of the crawler's secrets, for its middleware. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The run's arguments. */
  readonly args?: Readonly<Record<string, unknown>>;
}

/** A page for a test, given as exactly one of `html`, `json` and `page`. */
export interface SavedPage {
  /** The body of an HTML page. */
  readonly html?: string | Uint8Array;
  /** The body of a JSON page: a text as it is, any other value as JSON. */
  readonly json?: unknown;
  /** A complete page, from `Page.fromHtml`, say. */
  readonly page?: Page;
  /** The page's URL. Default: `https://www.example.com/`. */
  readonly url?: string;
}

/** A page of a site for a test. */
export interface SavedAnswer extends SavedPage {
  /**
   * The page answers only requests with this method, and this `body` if they have one. Default: all requests for its URL that no other page
   * answers.
   */
  readonly method?: FollowedRequest['method'];
  readonly body?: FollowedRequest['body'];
}

/** Options for a test with one page. */
export interface TestCrawlerOptions extends TestSurroundings, SavedPage {}

/** Options for a test with the pages of a site, for a crawler with steps. Includes its joins. */
export interface TestRunOptions extends TestSurroundings {
  readonly pages: readonly SavedAnswer[];
  /** URLs where the crawl starts. Default: the crawler's `seeds`, or the first page. */
  readonly seeds?: readonly string[];
}

/** The result of a crawler for one page. */
export interface TestedPage {
  /** The items that the step emitted, parsed by its schema. For a crawler of one function, its `data`. */
  readonly items: readonly unknown[];
  readonly follows: readonly TestedLink[];
  /** Links that are not followed because their `kept` doesn't meet the condition of the step they lead to. */
  readonly leftOut: readonly TestedLink[];
  /** Why a middleware skipped the page, which then has no items. Missing if none did. */
  readonly skipped?: string;
}

/**
 * Runs a crawler on a page as a worker does, without network or store. Links that only a run would leave out, for its scope, say, are among
 * `follows`. With `pages`, crawls a whole site, from the seeds along all links, groups and joins included; scope and depth then apply as in
 * a run without flags.
 *
 * @throws Error with the message that the page's record would have: file, line and message, or the rule that the step broke
 */
export async function testCrawler(crawler: Crawler, options: TestRunOptions): Promise<TestedRun>;
export async function testCrawler(crawler: Crawler, options: TestCrawlerOptions): Promise<TestedPage>;
export async function testCrawler(
  given: Crawler,
  options: TestCrawlerOptions | TestRunOptions,
): Promise<TestedPage | TestedRun> {
  if (!isCrawler(given)) throw new Error('expected testCrawler to get a crawler first, as defineCrawler makes it');
  if (typeof options !== 'object')
    throw new Error("expected testCrawler to get a page or pages: { html: '…', url: 'https://…' }");
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
  if (!Array.isArray(pages) || pages.length === 0) throw new Error('expected pages to be a list of at least one page');
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
  const starts = seeds ?? (await crawler.seeds?.({ args })) ?? [...saved.values()].slice(0, 1).map(({ url }) => url);
  const offers = starts.map((text) => {
    const url = readUrl(text);
    if (isProblem(url))
      throw new Error(`expected a seed such as https://www.example.com/, got "${text}": ${url.problem}`);
    const step = name === undefined ? crawler.startOf(url.href) : stepFor(crawler, name, url.href);
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

/** Returns the request that a saved page answers; undefined if it answers any. */
function requestFor({ method, body }: SavedAnswer, url: string): TaskRequest | undefined {
  return method === undefined && body === undefined ? undefined : requestOf({ url, method: method ?? 'GET', body });
}

/** Returns the key by which the answer to a request is found. Headers don't count: those of a form name the page it was on. */
function answerKey(url: string, request: TaskRequest | undefined): string {
  const { method = 'GET', body = '' } = request ?? {};
  return method === 'GET' ? canonicalOf(url) : `${canonicalOf(url)} ${method} ${body}`;
}

/** Makes the answer for a page that isn't saved: status 404. */
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
 * Returns a step, by its name in tasks: the step of a given name or, without one, the step where a URL starts.
 *
 * @throws Error if there is no such step, or if the URL is stored as a file, which no step reads
 */
export function stepFor(crawler: Crawler, name: string | undefined, url: string): string {
  const start = crawler.startOf(url);
  if (name === undefined && start === FILE_STEP.key)
    throw new Error(
      `crawler ${crawler.name} stores ${url} as a file, by its patterns: name the step that is to read it`,
    );
  if (name === undefined) return start;
  const step: Step | undefined = crawler.stepNamed(name);
  if (step !== undefined) return step.key;
  const names = crawler.steps.map((each) => each.name);
  if (names.length === 0) throw new Error(`crawler ${crawler.name} has no steps, got step ${name}`);
  throw new Error(`expected a step of crawler ${crawler.name}, got ${name}, ${noStep(name, names)}`);
}

/** Returns the problems that a step's `keeps` schema finds in the `kept` of a link; undefined if it fits. */
export function keptProblem(crawler: Crawler, key: string, kept: Kept): string | undefined {
  const step = crawler.step(key);
  const read = step?.keeps?.safeParse(kept);
  if (step === undefined || read === undefined || read.success) return undefined;
  const issues = read.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
  return `step ${step.name} expects ${issues.join('; ')}`;
}
