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
import { WatchedProducer } from '../process/watched-producer.ts';
import type { ProducerProgress } from '../producer/producer-progress.ts';
import { KEPT_MS } from '../producer/recent-offers.ts';
import { RunClosedError } from '../producer/run-closed.ts';
import { Problem } from './http/problem.ts';
import type { ReadRequest } from './http/read-request.ts';
import type { Link, LinkedStores } from './link.ts';
import { crawlLocally } from './local-crawl.ts';
import type { Offers } from './offers.ts';
import { limitOf, type RunRequestOptions, settingsWith } from './run-request.ts';

/** A run that somebody asks for. */
export interface RunRequest {
  readonly run?: string | undefined;
  readonly crawler?: string | undefined;
  readonly args?: Readonly<Record<string, string>> | undefined;
  /** Left out: the crawler's own. None: the run is opened and waits for offers, until it is sealed. */
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

type Produced = Pick<ProducerProgress, 'malformed' | 'older'>;

const NOTHING_YET: Produced = { malformed: 0, older: { pages: 0, sitemaps: 0 } };
/** Producers at work at once. */
const MOST_PRODUCERS = 50;
/** How long an answer waits for the seeds to be offered: most runs have few. */
const ANSWER_WITHIN_MS = 1_000;
/** A crawler is chosen by its name: whoever asks over HTTP chooses no files. */
export const CRAWLER_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** The producers that run in this process: a request's seeds are read and offered here, and the fleet's workers do the rest. */
export class Producers implements Service {
  readonly #options: ProducersOptions;
  readonly #stopped = new AbortController();
  readonly #working = new Map<string, Promise<void>>();
  /** Producers that are done, and whose last offers may have to be repeated. */
  readonly #lingering = new Set<Promise<void>>();
  #fetcher: Promise<Fetcher> | undefined;

  constructor(options: ProducersOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  /** Runs whose seeds are not all offered stay open, and say that their producer is lost. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled([...this.#working.values(), ...this.#lingering]);
    await (await this.#fetcher)?.stop();
  }

  /** @throws Problem, UsageError for what can't be meant */
  async read(request: RunRequest, dedup: RunOptions['dedup'] = 'ever'): Promise<ReadRequest> {
    const { options = {}, args = {}, seeds: texts } = request;
    const settings = settingsWith(this.#options.settings, options);
    const name = request.crawler ?? settings.crawler;
    const loaded = await findCrawler(name, settings.crawlersDir).catch((error: unknown) => {
      if (error instanceof UnknownCrawlerError && request.crawler !== undefined)
        throw new Problem('unknown_crawler', `there is no crawler ${name} here`);
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

  /** Opens the run and begins to offer; resolves with what `produce` prints, as far as it is by then. */
  async open(read: ReadRequest): Promise<object> {
    const { run } = read;
    return await this.#options.link.withStores(async (stores) => {
      if (read.isForOffers) {
        await this.#options.offers.open(run, read.runOptions, stores);
        return await this.#told(run, stores);
      }
      this.#expectPlace(run);
      if (this.#options.link.isLocal) {
        if ((await stores.runs.standing(run)) !== undefined)
          throw new Problem('wrong_state', `run ${run} is there already: ${TRAWL} crawl --resume ${run}`);
        await this.#crawl(read);
        return await this.#told(run, stores);
      }
      const watched = await this.#produce(read, stores);
      return await this.#told(run, stores, watched.progress);
    });
  }

  /** @throws Problem if there is no place for another producer, or this run has one */
  #expectPlace(run: string): void {
    if (this.#working.has(run)) throw new Problem('wrong_state', `the seeds of run ${run} are being read just now`);
    if (this.#working.size >= MOST_PRODUCERS)
      throw new Problem('too_many_requests', `${MOST_PRODUCERS} producers are at work`, { retryAfterMs: 10_000 });
  }

  async #crawl(read: ReadRequest): Promise<void> {
    const { log, measures, clock } = this.#options;
    const opened = Promise.withResolvers<void>();
    const { signal } = this.#stopped;
    // Others may have begun since it was asked.
    this.#expectPlace(read.run);
    await this.#begin(
      read.run,
      crawlLocally(read, { log, measures, clock, signal, onOpen: () => opened.resolve() }),
      opened.promise,
    );
  }

  /** Resolves once the work on a run has come far enough to be reported, or rejects if it failed before the run was open. */
  async #begin(run: string, working: Promise<void>, opened: Promise<void>): Promise<void> {
    const { log, clock } = this.#options;
    const ended = working
      .catch((error: unknown) => log.warn({ run, error: messageOf(error) }, 'a producer ended:'))
      .finally(() => this.#working.delete(run));
    this.#working.set(run, ended);
    try {
      await Promise.race([opened, working]);
    } catch (error: unknown) {
      throw error instanceof RunClosedError ? new Problem('wrong_state', error.message) : error;
    }
    await Promise.race([ended, clock.sleep(ANSWER_WITHIN_MS)]);
  }

  async #produce(read: ReadRequest, stores: LinkedStores): Promise<WatchedProducer> {
    const { log, measures } = this.#options;
    const { run, settings, runOptions, seeds, startOf } = read;
    const rules = await routingRulesOf(settings);
    const fetcher = measures.fetcher(await this.fetcher());
    // Others may have begun since it was asked.
    this.#expectPlace(run);
    const watched = new WatchedProducer({
      ...{ settings, stores, fetcher, rules, run, runOptions, log, startOf },
      producer: newWorkerId(),
      onOffered: () => {},
    });
    const opened = Promise.withResolvers<void>();
    const unwatch = this.#options.link.watchStore({
      lost: () => watched.noteAway(),
      // Redis may have come back without its last second.
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

  /** The last offers of a producer may be lost after its end as well. */
  async #linger(watched: WatchedProducer): Promise<void> {
    const { clock, link } = this.#options;
    const { signal } = this.#stopped;
    await clock.sleep(KEPT_MS, signal);
    while (link.isStoreAway && !signal.aborted) await clock.sleep(SECOND_MS, signal);
    await watched.repeated();
  }

  /** The one fetcher of this process: it keeps connections, and the address guard. One that can't be opened is tried again. */
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
    return producedJson(progress, produced, workers.length);
  }
}
