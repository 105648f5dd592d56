/** The module `trawl/crawl`: a crawl inside the process of another program. */

import { existsSync } from 'node:fs';
import { newRunId } from '../../shared/control/run-id.ts';
import type { RunView } from '../../shared/control/run-watcher.ts';
import { type RunSummary, summaryJson } from '../../shared/control/summary-json.ts';
import { isCrawler } from '../../shared/crawler/crawler.ts';
import { findCrawler } from '../../shared/crawler/loading/catalogue.ts';
import type { LoadedCrawler } from '../../shared/crawler/loading/load.ts';
import { versionOf } from '../../shared/crawler/loading/version.ts';
import type { PageRecord } from '../../shared/ports/record.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { ConfigurationError, UnavailableError, UsageError } from '../../shared/runtime/errors.ts';
import { openLog } from '../../shared/runtime/logger.ts';
import { readSettings } from '../../shared/settings/settings.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { readCrawlerInput, runOptionsFor } from '../process/crawler-input.ts';
import { EmbeddedFleet, type Following } from '../process/embedded-fleet.ts';
import type { RunPlan } from '../process/run-plan.ts';
import { stoppingBy } from '../process/stopping.ts';
import { type CrawlOptions, settingsIn } from './crawl-options.ts';
import { Handover } from './handover.ts';

export type { RunSummary } from '../../shared/control/summary-json.ts';
export type { DoneRecord, EndedRecord, PageRecord } from '../../shared/ports/record.ts';
export type { CrawlOptions } from './crawl-options.ts';

/** Nobody needs the pages in hand any more. */
const GRACE_MS = 0;
/** Interval at which it checks whether the run is paused. */
const LOOK_EVERY_MS = 1_000;

/**
 * Crawls in this process, without services, and yields the record of each page that is done, failed or skipped:
 *
 * ```ts
 * import { defineCrawler } from 'trawl';
 * import { crawl } from 'trawl/crawl';
 *
 * const books = defineCrawler({ name: 'books', step: (page) => ({ data: { name: page.get('h1') } }) });
 * for await (const record of crawl('https://books.example/', { crawler: books, follow: true, maxDepth: 2 })) {
 *   if (record.outcome === 'done') console.log(record.url, record.data);
 * }
 * ```
 *
 * It begins when the first record is requested, and fetches pages as fast as their records are taken; `break` stops it. Everything is in
 * memory, so an interrupted crawl has to start from the beginning. A crawl that survives a crash is `trawl crawl`.
 *
 * @param seeds sites, sitemaps, pages, or files of URLs, as on the command line; an empty list stands for the crawler's own
 */
export function crawl(seeds: string | readonly string[], options: CrawlOptions = {}): Crawl {
  return new Crawl([seeds].flat(), options);
}

/** A crawl that can be iterated over once. Iterating rejects with a `ConfigurationError` or `UsageError` if its options are wrong. */
export class Crawl implements AsyncIterable<PageRecord> {
  readonly #seeds: readonly string[];
  readonly #options: CrawlOptions;
  #isBegun = false;
  #summary: RunSummary | undefined;

  constructor(seeds: readonly string[], options: CrawlOptions) {
    this.#seeds = seeds;
    this.#options = options;
  }

  /** The result, as `trawl crawl --json` prints it; undefined until the crawl has ended. */
  get summary(): RunSummary | undefined {
    return this.#summary;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PageRecord, void, undefined> {
    if (this.#isBegun) throw new UsageError('a crawl can be iterated over once: call crawl() again for another one');
    this.#isBegun = true;
    const { signal } = this.#options;
    signal?.throwIfAborted();
    const own = new AbortController();
    const stop = signal === undefined ? own.signal : AbortSignal.any([signal, own.signal]);
    const handover = new Handover();
    stop.addEventListener('abort', () => handover.close(), { once: true });
    const crawled = this.#run(handover, stop, own).finally(() => handover.close());
    // An error reaches the iterating caller below, once all records are taken.
    crawled.catch(() => {});
    try {
      for (let record = await handover.next(); record !== undefined; record = await handover.next()) yield record;
      await crawled;
      stop.throwIfAborted();
    } finally {
      own.abort();
      await crawled.catch(() => {});
    }
  }

  async #run(sink: Handover, signal: AbortSignal, own: AbortController): Promise<void> {
    const settings = readSettings(settingsIn(this.#options));
    const log = openLog({ level: settings.logLevel ?? 'warn', format: settings.logFormat });
    try {
      const fleet = new EmbeddedFleet(await this.#plan(settings), {
        log,
        sink,
        follow: (following, over) => untilOver(following, over, own),
      });
      const progress = await fleet.run(
        stoppingBy({ signal, who: 'the program', graceMs: GRACE_MS, clock: systemClock }),
      );
      if (fleet.failure !== undefined) throw fleet.failure;
      if (progress !== undefined) this.#summary = summaryJson(progress, { isInterrupted: signal.aborted });
    } finally {
      log.close();
    }
  }

  async #plan(settings: Settings): Promise<RunPlan> {
    checkSeeds(this.#seeds);
    const { crawler = settings.crawler, args = {}, limit } = this.#options;
    const loaded = typeof crawler === 'string' ? await findCrawler(crawler, settings.crawlersDir) : loadedFrom(crawler);
    const given = Object.entries(args).map(([name, value]) => `${name}=${value}`);
    const input = await readCrawlerInput(loaded.crawler, this.#seeds, { arg: given }, { settings });
    const { seeds } = input;
    if (seeds.length === 0) throw new UsageError('nothing to crawl: give crawl() a site, a sitemap, a page or a file');
    if (seeds.some(({ kind }) => kind === 'input'))
      throw new UsageError("crawl() doesn't read standard input: pass it the URLs themselves");
    const own = { ...input.args, ...(limit === undefined ? {} : { limit }) };
    const runOptions = { ...runOptionsFor(loaded, settings, 'run'), ...own };
    return { run: newRunId(), settings, runOptions, loaded, seeds, hasInput: false };
  }
}

/** Follows a run to its end. A run paused by failed logins would wait for somebody to resume it. Here nobody can, so it is stopped. */
async function untilOver({ watcher, untilOver: over }: Following, signal: AbortSignal, own: AbortController) {
  const stopWatching = new AbortController();
  const stop = AbortSignal.any([signal, stopWatching.signal]);
  const watching = watcher.follow(LOOK_EVERY_MS, (view) => giveUpIfPaused(view, own), stop);
  await Promise.all([watching, over(signal).finally(() => stopWatching.abort())]);
}

function giveUpIfPaused({ progress }: RunView, own: AbortController): void {
  if (progress.state === 'paused') own.abort(new UnavailableError(`the crawl can't continue: ${progress.pauseReason}`));
}

/** Refuses what programs without types may give as a seed. @throws UsageError */
function checkSeeds(seeds: readonly unknown[]): void {
  const other = seeds.findIndex((seed) => typeof seed !== 'string');
  if (other < 0) return;
  const what = seeds[other] instanceof URL ? 'a URL: take its href' : typeof seeds[other];
  throw new UsageError(`expected the seeds of crawl() to be texts, a URL or a file each, got ${what}`);
}

/**
 * Returns a crawler that the program itself defines. Its version is that of the program's main file.
 *
 * @throws ConfigurationError if it is none
 */
function loadedFrom(crawler: unknown): LoadedCrawler {
  if (!isCrawler(crawler))
    throw new ConfigurationError([
      "expected option crawler to be a crawler, or the name or file of one: defineCrawler({ name: 'shop', step: (page) => ({ … }) })",
    ]);
  const [, file = ''] = process.argv;
  return { crawler, version: existsSync(file) ? versionOf(file) : '00000000', file };
}
