import { newWorkerId } from '../../shared/backends/backends.ts';
import { openFetcher } from '../../shared/backends/fetchers.ts';
import { newRunId } from '../../shared/control/run-id.ts';
import { findCrawler, UnknownCrawlerError } from '../../shared/crawler/loading/catalogue.ts';
import type { CrawlMeasures } from '../../shared/metrics/process-metrics.ts';
import type { Fetcher } from '../../shared/ports/fetcher.ts';
import type { RunOptions } from '../../shared/ports/runs.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Service } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';
import { VERSION } from '../../shared/runtime/version.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { SECOND_MS } from '../../shared/task/durations.ts';
import { readCrawlerInput, runOptionsFor } from '../process/crawler-input.ts';
import { hostHeadersOf } from '../process/host-headers.ts';
import { producedJson } from '../process/produced-json.ts';
import { routingRulesOf } from '../process/routing-rules.ts';
import type { RunPlan } from '../process/run-plan.ts';
import { WatchedProducer } from '../process/watched-producer.ts';
import type { ProducerProgress } from '../producer/producer-progress.ts';
import { KEPT_MS } from '../producer/recent-offers.ts';
import { RunClosedError } from '../producer/run-closed.ts';
import { Problem, unknownCrawler } from './http/problem.ts';
import type { ReadRequest } from './http/read-request.ts';
import type { Link, LinkedStores } from './link.ts';
import { crawlLocally, planOfRequest } from './local-crawl.ts';
import type { Offers } from './offers.ts';
import { limitOf, type RunRequestOptions, settingsWith } from './run-request.ts';
import { planOfStoppedRun } from './stopped-run.ts';

/** A request for a run. */
export interface RunRequest {
  readonly run?: string | undefined;
  readonly crawler?: string | undefined;
  readonly args?: Readonly<Record<string, string>> | undefined;
  /** Defaults to the crawler's own seeds. An empty list opens a run that waits for offers until it is sealed. */
  readonly seeds?: readonly string[] | undefined;
  readonly options?: RunRequestOptions | undefined;
}

interface ProducersOptions {
  readonly settings: Settings;
  readonly link: Link;
  readonly offers: Offers;
  readonly measures: CrawlMeasures;
  readonly clock: Clock;
  readonly log: Logger;
}

type Produced = Pick<ProducerProgress, 'malformed' | 'older' | 'unwanted'>;

const NOTHING_YET: Produced = { malformed: 0, older: { pages: 0, sitemaps: 0 }, unwanted: 0 };
/** Producers that can work at once. */
const MOST_PRODUCERS = 50;
/** Longest time that an answer waits for the seeds to be offered. Most runs have few, and are answered with final numbers. */
const ANSWER_WITHIN_MS = 1_000;
/** Names of crawlers. A path doesn't match: requests over HTTP must not choose files. */
export const CRAWLER_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * The producers of this process. They read and offer the seeds of requests; the fleet's workers do the rest. In a local API they crawl the
 * whole run.
 */
export class Producers implements Service {
  readonly #options: ProducersOptions;
  readonly #stopped = new AbortController();
  readonly #working = new Map<string, Promise<void>>();
  /** Producers that are done but whose last offers might have to be repeated. */
  readonly #lingering = new Set<Promise<void>>();
  #fetcher: Promise<Fetcher> | undefined;

  constructor(options: ProducersOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  /** Stops the producers. A run whose seeds are not all offered stays open, and later reports its producer as lost. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled([...this.#working.values(), ...this.#lingering]);
    await (await this.#fetcher)?.stop();
  }

  /**
   * Reads and checks a request.
   *
   * @param dedup the default for the request: a local run takes known URLs again, as `crawl` does, and a fleet's leaves them out, as `produce`
   * @throws Problem, UsageError if the request makes no sense
   */
  async read(
    request: RunRequest,
    dedup: RunOptions['dedup'] = this.#options.link.isLocal ? 'run' : 'ever',
  ): Promise<ReadRequest> {
    const { options = {}, args = {}, seeds: texts } = request;
    const settings = settingsWith(this.#options.settings, options);
    const name = request.crawler ?? settings.crawler;
    const loaded = await findCrawler(name, settings.crawlersDir).catch((error: unknown) => {
      if (error instanceof UnknownCrawlerError && request.crawler !== undefined)
        throw unknownCrawler(name, error.nearest);
      throw error;
    });
    const { crawler } = loaded;
    const isForOffers = texts?.length === 0 || (texts === undefined && crawler.seeds === undefined);
    const arg = Object.entries(args).map(([key, value]) => `${key}=${value}`);
    const given = { ...(arg.length === 0 ? {} : { arg }), ...(isForOffers ? { urlsFile: [] } : {}) };
    const input = await readCrawlerInput(crawler, isForOffers ? [] : (texts ?? []), given, { settings });
    const runOptions = {
      ...runOptionsFor(loaded, settings, options.dedup ?? dedup),
      ...limitOf(options),
      ...(options.robots === undefined ? {} : { robots: options.robots }),
      ...input.args,
    };
    const run = request.run ?? newRunId();
    return {
      run,
      settings,
      runOptions,
      loaded,
      seeds: input.seeds,
      startOf: (href) => crawler.startOf(href),
      isForOffers,
    };
  }

  /** Opens the run and begins to offer. Waits up to a second for the seeds, then resolves with the document that `produce` prints. */
  async open(read: ReadRequest): Promise<object> {
    const { run } = read;
    const { link, offers } = this.#options;
    return await link.withStores(async (stores) => {
      const standing = link.isLocal ? await stores.runs.standing(run) : undefined;
      if (read.isForOffers && (!link.isLocal || standing?.hasEnded === false)) {
        await this.takeUp(run, 'offer');
        await offers.open(run, read.runOptions, stores);
        return await this.#told(run, stores);
      }
      this.#expectPlace(run);
      if (link.isLocal) {
        if (standing !== undefined)
          throw new Problem('wrong_state', `run ${run} already exists: ${TRAWL} crawl --resume ${run}`);
        // A run that waits for offers has none yet.
        const produced = await this.#crawl(planOfRequest(read), read.isForOffers ? 0 : ANSWER_WITHIN_MS);
        return await this.#told(run, stores, produced);
      }
      const watched = await this.#produce(read, stores);
      return await this.#told(run, stores, watched.progress);
    });
  }

  /**
   * Crawls on a local run that stopped with its process. Does nothing if a process crawls it, if it is over, or if it is a fleet's.
   *
   * @param by see {@link planOfStoppedRun}
   * @throws Problem if only the command line can do that
   */
  async takeUp(run: string, by: 'offer' | 'resume'): Promise<void> {
    const { link, settings } = this.#options;
    if (!link.isLocal || this.#working.has(run)) return;
    const progress = await link.withStores(({ runs }) => runs.progress(run));
    if (progress?.stoppedAt === undefined || progress.state === 'cancelled') return;
    const plan = await planOfStoppedRun(progress, settings, by);
    // Another request might have taken it up meanwhile.
    if (plan !== undefined && !this.#working.has(run)) await this.#crawl(plan, 0);
  }

  /** @throws Problem if this run has a producer, or as many as allowed are at work */
  #expectPlace(run: string): void {
    if (this.#working.has(run)) throw new Problem('wrong_state', `the seeds of run ${run} are still being read`);
    if (this.#working.size >= MOST_PRODUCERS)
      throw new Problem('too_many_requests', `${MOST_PRODUCERS} producers are at work`, { retryAfterMs: 10_000 });
  }

  /** Begins to crawl a local run, and waits up to `withinMs` for its seeds to be offered and crawled. */
  async #crawl(plan: RunPlan, withinMs: number): Promise<Produced> {
    const { log, measures, clock } = this.#options;
    const opened = Promise.withResolvers<void>();
    const { signal } = this.#stopped;
    let produced = (): Produced => NOTHING_YET;
    const onOpen = (ofThis: () => Produced): void => {
      produced = ofThis;
      opened.resolve();
    };
    // Other producers might have begun since the first check.
    this.#expectPlace(plan.run);
    const crawling = crawlLocally(plan, { log, measures, clock, signal, onOpen });
    await this.#begin(plan.run, crawling, opened.promise, withinMs);
    return produced();
  }

  /** Resolves when the work on a run has ended, at the latest `withinMs` after the run was opened. Rejects if it fails before the run is open. */
  async #begin(run: string, working: Promise<void>, opened: Promise<void>, withinMs = ANSWER_WITHIN_MS): Promise<void> {
    const { log, clock } = this.#options;
    const ended = working
      .catch((error: unknown) => log.warn({ run, error: messageOf(error) }, 'a producer failed:'))
      .finally(() => this.#working.delete(run));
    this.#working.set(run, ended);
    try {
      await Promise.race([opened, working]);
    } catch (error: unknown) {
      throw error instanceof RunClosedError ? new Problem('wrong_state', error.message) : error;
    }
    await Promise.race([ended, clock.sleep(withinMs)]);
  }

  async #produce(read: ReadRequest, stores: LinkedStores): Promise<WatchedProducer> {
    const { log, measures } = this.#options;
    const { run, settings, runOptions, seeds, startOf } = read;
    const rules = await routingRulesOf(settings);
    const fetcher = measures.fetcher(await this.fetcher());
    // Other producers might have begun since the first check.
    this.#expectPlace(run);
    const watched = new WatchedProducer({
      ...{ settings, stores, fetcher, rules, run, runOptions, log, startOf },
      producer: newWorkerId(),
      onOffered: () => {},
    });
    const opened = Promise.withResolvers<void>();
    const unwatch = this.#options.link.watchStore({
      lost: () => watched.noteAway(),
      // Redis may have lost its last second of writes.
      restored: () => watched.repeatRecent(),
    });
    const working = watched.meanwhile(seeds, this.#stopped.signal, async () => opened.resolve());
    const lingering = working
      .then(() => this.#linger(watched))
      .catch(() => {})
      .finally(() => {
        unwatch();
        this.#lingering.delete(lingering);
      });
    this.#lingering.add(lingering);
    await this.#begin(run, working, opened.promise);
    return watched;
  }

  /** Waits until the store can no longer lose a producer's last offers, which can happen after its end. */
  async #linger(watched: WatchedProducer): Promise<void> {
    const { clock, link } = this.#options;
    const { signal } = this.#stopped;
    await clock.sleep(KEPT_MS, signal);
    while (link.isStoreAway && !signal.aborted) await clock.sleep(SECOND_MS, signal);
    await watched.repeated();
  }

  /** Returns the one fetcher of this process, with its connections and address guard. If it can't be opened, the next call tries again. */
  fetcher(): Promise<Fetcher> {
    this.#fetcher ??= this.#openFetcher().catch((error: unknown) => {
      this.#fetcher = undefined;
      throw error;
    });
    return this.#fetcher;
  }

  async #openFetcher(): Promise<Fetcher> {
    const { settings, log } = this.#options;
    return await openFetcher({ settings, version: VERSION, hostHeaders: await hostHeadersOf(settings), log });
  }

  async #told(run: string, { runs, roster }: LinkedStores, produced: Produced = NOTHING_YET): Promise<object> {
    const [progress, workers] = await Promise.all([runs.progress(run), roster.workers()]);
    if (progress === undefined) throw new Problem('unknown_run', `the store has lost run ${run}`);
    return producedJson(progress, produced, workers.length, this.#options.link.isLocal);
  }
}
