import { argsOf } from './args.ts';
import type { Kept } from './condition.ts';
import type { Crawler, Step } from './crawler.ts';
import { noStep } from './graph.ts';
import { type MadePageOptions, madePage } from './made-page.ts';
import { Page } from './page.ts';
import { type Extract, readingOf } from './reading.ts';
import { stepErrorOf } from './step-error.ts';
import type { Following } from './step-run.ts';

/** The page that a crawler is tested with, by one of `html`, `json` and `page`, and what it gets besides. */
export interface TestCrawlerOptions {
  /** Default: where the URL starts by the crawler's patterns. */
  readonly step?: string;
  /** The body of an HTML page. */
  readonly html?: string | Uint8Array;
  /** The body of a page of JSON: a text as it is, any other value written as JSON. */
  readonly json?: unknown;
  /** A page as it is, of `Page.fromHtml` say. */
  readonly page?: Page;
  /** Of the page. Default: `https://www.example.com/`. */
  readonly url?: string;
  /** What the links that led to the page kept. */
  readonly kept?: Kept;
  /** The run's arguments. */
  readonly args?: Readonly<Record<string, unknown>>;
}

/** A link that a step follows. */
export interface TestedLink {
  /** The step that it leads to; empty for a crawler of one function. */
  readonly step: string;
  readonly url: string;
  readonly kept?: Kept;
}

/** What a crawler makes of a page. */
export interface TestedPage {
  /** What its step emitted, as its schema reads it; for a crawler of one function, its `data`. */
  readonly items: readonly unknown[];
  readonly follows: readonly TestedLink[];
  /** Links that are not followed, since what they keep doesn't meet the condition of the step that they lead to. */
  readonly leftOut: readonly TestedLink[];
}

/**
 * Runs a crawler on a page as a worker does, without network and store. What is left out by the run alone, by its scope say, is
 * among what it follows.
 *
 * @throws Error worded as the page's record would have it: file, line and message, or what the step may not do
 */
export async function testCrawler(crawler: Crawler, options: TestCrawlerOptions): Promise<TestedPage> {
  const page = pageOf(crawler, options);
  const { about, begin, end } = readingOf(
    { crawler, args: argsOf(crawler, options.args ?? {}), options: { crawler: crawler.name } },
    page,
  );
  let extract: Extract;
  try {
    extract = end(await begin());
  } catch (error: unknown) {
    throw stepErrorOf(about, error);
  }
  return testedPage(crawler, page, extract);
}

function testedPage(crawler: Crawler, page: Page, { data, items, links, follows, unmet }: Extract): TestedPage {
  if (crawler.pageFunction === undefined)
    return {
      items: items === 1 ? [data] : ((data ?? []) as unknown[]),
      follows: linksOf(follows),
      leftOut: linksOf(unmet),
    };
  const own = (links ?? page.links()).map((url) => ({ step: '', url }));
  return { items: data === undefined ? [] : [data], follows: own, leftOut: [] };
}

function linksOf(followings: readonly Following[]): TestedLink[] {
  return followings.flatMap(({ step, links, kept }) =>
    links.map((url) => ({ step: step.name, url, ...(kept === undefined ? {} : { kept }) })),
  );
}

function pageOf(crawler: Crawler, options: TestCrawlerOptions): Page {
  const { html, json, page, kept } = options;
  const given = [html, json, page].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw new Error(`expected testCrawler to get one of html, json and page, got ${given.length || 'none'}`);
  const made = page ?? madeOf(options);
  const step = stepFor(crawler, options.step, made.url);
  const problem = keptProblem(crawler, step, kept ?? {});
  if (problem !== undefined) throw new Error(`kept: ${problem}`);
  const task = { ...made.task, step, ...(kept === undefined ? {} : { kept }) };
  return made.at(task);
}

function madeOf({ html, json, url }: TestCrawlerOptions): Page {
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
