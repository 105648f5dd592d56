import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Kept } from '../../../shared/crawler/condition.ts';
import type { Crawler } from '../../../shared/crawler/crawler.ts';
import { StepError } from '../../../shared/crawler/failures/step-error.ts';
import { findCrawler } from '../../../shared/crawler/loading/catalogue.ts';
import { madePage } from '../../../shared/crawler/made-page.ts';
import { Page } from '../../../shared/crawler/page.ts';
import { keptProblem, stepFor } from '../../../shared/crawler/testing/test-crawler.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { messageOf, UsageError } from '../../../shared/runtime/errors.ts';
import { SETTINGS } from '../../../shared/settings/table.ts';
import { isObject } from '../../../shared/task/is-object.ts';
import { INITIAL_FIELDS } from '../../../shared/task/task/form.ts';
import { isProblem, readUrl, withoutCredentials } from '../../../shared/task/url/url.ts';
import { argsFor } from '../../process/crawler-input.ts';
import { openWatchdog } from '../../process/open-watchdog.ts';
import { routingRulesOf } from '../../process/routing-rules.ts';
import { Steps } from '../../worker/pipeline/steps.ts';
import { redirectsOf, type Visit } from '../../worker/pipeline/visit.ts';
import { addCommonOptions, type CommandModule, type Context, repeated, withContext } from '../command.ts';
import { print, printJson, say } from '../text/output.ts';
import { isUnanswered, unreadProxy, unreadProxyLine } from '../text/unread-proxy.ts';
import { codeFrame } from '../trial/code-frame.ts';
import { fetchOnce, openAsking, sayWait } from '../trial/fetch-once.ts';
import { type Failure, failureIn, readAround } from '../trial/read-around.ts';
import { pageFacts, stepFacts } from '../trial/trial.ts';
import { pageLines, selectionLines, stepLines } from '../trial/trial-lines.ts';
import { type RequestFlags, trialRequest } from '../trial/trial-request.ts';
import { trialVisit } from '../trial/trial-visit.ts';
import {
  type KeptPage,
  leaveWatcher,
  pageOfEarlier,
  tellImports,
  tellWatcher,
  UNDER_WATCH,
} from '../trial/under-watch.ts';
import { watchTrials } from '../trial/watched-trial.ts';

interface TryOptions extends RequestFlags {
  readonly step?: string;
  readonly kept?: string;
  readonly arg?: string[];
  readonly select?: string;
  readonly html?: string;
  readonly watch?: boolean;
  readonly underWatch?: boolean;
}

/** `trawl try URL`: fetches one page, and shows what a crawler makes of it. */
export const command: CommandModule = {
  define(command: Command, exit) {
    addCommonOptions(command, ['run', 'fetch', 'worker'])
      .argument('<url>', 'the URL of a page')
      .option('--step <name>', 'the step that reads the page (default: the one its URL starts at)')
      .option('--kept <json>', 'the data kept by the link to this page')
      .option('--arg <name=value>', 'an argument of the crawler (can be repeated)', repeated)
      .option('--method <method>', 'request method (default: GET, or POST with --data)')
      .option('--data <text>', 'send this body, or a file as @FILE: JSON, or the fields of a form')
      .option('--header <name: value>', 'send this header (can be repeated)', repeated)
      .option('--select <css>', 'print the elements that a selector finds')
      .option('--html <file>', 'read this file as if it came from the URL')
      .option('--watch', 'run again whenever the crawler is saved')
      .addOption(new Option(UNDER_WATCH).hideHelp())
      .action(async (url: string, options: TryOptions & { readonly crawler?: string }) => {
        exit(await withContext(options, { logLevel: 'error' }, (context) => tryOut(url, options, context)));
      });
  },
};

/** A trial, prepared before the page is read. */
interface Plan {
  readonly visit: Visit;
  readonly options: TryOptions;
  readonly context: Context;
  /** The crawler is to read the page, since one was named. */
  readonly isRead: boolean;
}

async function tryOut(url: string, options: TryOptions, context: Context): Promise<number> {
  const { signal = new AbortController().signal, settings, flags } = context;
  const { watch = false, underWatch = false, html } = options;
  const { name, default: described } = SETTINGS.crawler;
  const isRead = flags[name] !== undefined || settings.crawler !== described;
  if (!isRead) refuseWithoutCrawler(options);
  refuseUnsent(options);
  if (!underWatch) {
    if (watch) return await watchTrials(namedFiles(settings.crawler, html), signal);
    return await attempt({ ...(await planFor(url, options, context)), isRead }, undefined, signal);
  }
  try {
    const page = await pageOfEarlier();
    tellImports();
    return await attempt({ ...(await planFor(url, options, context)), isRead }, page, signal);
  } finally {
    leaveWatcher();
  }
}

function refuseWithoutCrawler({ step, kept, arg, watch, html }: TryOptions): void {
  const [flag] = Object.entries({ step, kept, arg }).find(([, value]) => value !== undefined) ?? [];
  if (flag !== undefined) throw new UsageError(`--${flag} is for a crawler: name it with --crawler`);
  if (watch && html === undefined) throw new UsageError('nothing to watch: name a crawler with --crawler, or --html');
}

function refuseUnsent({ html, method, data, header }: TryOptions): void {
  const [flag] = Object.entries({ method, data, header }).find(([, value]) => value !== undefined) ?? [];
  if (html === undefined || flag === undefined) return;
  throw new UsageError(`--${flag} describes a request, and with --html none is sent: leave out one of them`);
}

/** The files named on the command line. They are watched even if they can't be loaded. */
function namedFiles(crawler: string, html: string | undefined): string[] {
  const files = [...(crawler.includes('/') || extname(crawler) !== '' ? [crawler] : []), ...(html ? [html] : [])];
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) throw new UsageError(`there is no file ${missing}`);
  return files.map((file) => resolve(file));
}

async function planFor(text: string, options: TryOptions, context: Context): Promise<Omit<Plan, 'isRead'>> {
  const { settings } = context;
  const url = readUrl(text);
  if (isProblem(url)) {
    const got = withoutCredentials(text);
    throw new UsageError(`expected a URL such as https://www.example.com/, got "${got}": ${url.problem}`);
  }
  const loaded = await findCrawler(settings.crawler, settings.crawlersDir);
  const { crawler } = loaded;
  const [, args] = argsFor(crawler, options.arg ?? []);
  const step = asUsage(() => stepFor(crawler, options.step, url.href));
  const kept = readKept(options.kept, crawler, step);
  const request = await trialRequest(url.href, options);
  const about = {
    ...INITIAL_FIELDS,
    step,
    ...(kept === undefined ? {} : { kept }),
    ...(request === undefined ? {} : { request }),
  };
  return { visit: await trialVisit(url, about, { settings, loaded, args }), options, context };
}

function readKept(text: string | undefined, crawler: Crawler, key: string): Kept | undefined {
  const kept = text === undefined ? undefined : jsonOf(text);
  if (kept !== undefined && !isObject(kept))
    throw new UsageError(`expected --kept to be a JSON object such as '{"sku":"a1"}', got ${text}`);
  const problem = keptProblem(crawler, key, (kept ?? {}) as Kept);
  if (problem !== undefined) throw new UsageError(`--kept: ${problem}`);
  return kept as Kept | undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error: unknown) {
    throw new UsageError(`expected --kept to be JSON such as '{"sku":"a1"}': ${messageOf(error)}`);
  }
}

/** Gets the page, prints what is known about it, and returns the exit code. */
async function attempt(plan: Plan, known: KeptPage | undefined, signal: AbortSignal): Promise<number> {
  const { visit, options, context } = plan;
  const found =
    known ?? (options.html === undefined ? await fetched(plan, signal) : await fromFile(visit, options.html));
  if ('failure' in found) {
    tellFailure(found.failure, {}, context);
    const proxy = unreadProxy(context.settings);
    if (proxy !== undefined && found.isUnanswered === true) say(unreadProxyLine(proxy));
    return 1;
  }
  if (options.underWatch && options.html === undefined) tellWatcher({ page: found });
  const at = found.moved === undefined ? visit : { ...visit, moved: { ...visit.task, ...found.moved } };
  const page = new Page(at.task, found.fetched);
  const facts = { page: pageFacts(at.task.url, page, redirectsOf(at)) };
  if (!context.json) print(pageLines(facts.page));
  const selected = options.select === undefined ? undefined : textsOf(page, options.select);
  if (selected !== undefined && !context.json) print(selectionLines(options.select ?? '', selected));
  return await read(plan, at, page, { ...facts, ...(selected === undefined ? {} : { selected }) });
}

/** Runs the crawler on the page, prints the result, and returns the exit code. */
async function read({ isRead, context }: Plan, visit: Visit, page: Page, facts: object): Promise<number> {
  const { settings } = context;
  if (!isRead) {
    if (context.json) printJson(facts);
    return 0;
  }
  const watchdog = openWatchdog(settings, () => []);
  await watchdog.start();
  try {
    const steps = new Steps({ stepTimeoutMs: settings.stepTimeout, clock: systemClock, watch: watchdog });
    const tried = await readAround(visit, page, steps);
    if ('outcome' in tried) {
      tellFailure(tried, facts, context);
      return tried.outcome === 'skipped' ? 0 : 1;
    }
    const result = await stepFacts(visit, tried.page, tried.extract, await routingRulesOf(settings));
    if (context.json) printJson({ ...facts, result });
    else print(stepLines(result, othersOf(visit, result.step)));
    return 0;
  } catch (error: unknown) {
    if (!(error instanceof StepError)) throw error;
    tellFailure({ outcome: 'failed', reason: error.reason, error: error.message }, facts, context);
    if (!context.json) say(...codeFrame(error.message));
    return 1;
  } finally {
    await watchdog.stop();
  }
}

/** The crawler's other steps. */
function othersOf({ run: { crawler } }: Visit, step: string | undefined): string[] {
  return crawler.steps.map(({ name }) => name).filter((name) => name !== step);
}

function tellFailure(failure: Failure, facts: object, { json }: Context): void {
  if (json) printJson({ ...facts, failure });
  else say({ text: `${failure.outcome}, ${failure.reason}: ${failure.error}`, mark: 'failure', colour: 'red' });
}

async function fetched(
  { visit, context }: Plan,
  signal: AbortSignal,
): Promise<KeptPage | { readonly failure: Failure; readonly isUnanswered?: boolean }> {
  const steps = new Steps({ stepTimeoutMs: context.settings.stepTimeout, clock: systemClock });
  const asking = await openAsking(context);
  const { visit: at, ...found } = await fetchOnce(visit, steps, context, asking, signal, sayWait).finally(() =>
    asking.close(),
  );
  if (!('ending' in found)) {
    const { moved } = at;
    return { fetched: found.arrival.fetched, moved };
  }
  const failure = failureIn(found.ending);
  // If robots.txt is out of reach, a crawl would only wait: the outcome has no such reason then.
  const { kind = 'answered' } = found.ending.hostTrouble ?? {};
  return { failure, isUnanswered: kind !== 'answered' || isUnanswered(failure.reason) };
}

/** Content types by file extension. Any other file is HTML. */
const TYPES: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.xml': 'application/xml',
  '.txt': 'text/plain',
};

async function fromFile({ task }: Visit, file: string): Promise<KeptPage> {
  let body: Buffer;
  try {
    body = await readFile(file);
  } catch (error: unknown) {
    throw new UsageError(`--html ${file} can't be read: ${messageOf(error)}`);
  }
  const contentType = TYPES[extname(file).toLowerCase()] ?? 'text/html';
  return { fetched: madePage(body, { url: task.url, contentType }).fetched, moved: undefined };
}

function textsOf(page: Page, css: string): readonly string[] {
  return asUsage(() => page.all(css).map(({ text }) => text));
}

function asUsage<T>(action: () => T): T {
  try {
    return action();
  } catch (error: unknown) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}
