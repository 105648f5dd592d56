import { join } from 'node:path';
import { newWorkerId } from '../../shared/backends/backends.ts';
import { type Embedded, openEmbedded } from '../../shared/backends/embedded.ts';
import { openFetcher } from '../../shared/backends/fetchers.ts';
import { openFiles, openSink, sinkNameOf } from '../../shared/backends/sinks.ts';
import { RunWatcher } from '../../shared/control/run-watcher.ts';
import { type KnownSecrets, secretsFrom } from '../../shared/crawler/around/secrets.ts';
import { LOGIN_FAILED } from '../../shared/crawler/around/session.ts';
import { Catalogue } from '../../shared/crawler/loading/catalogue.ts';
import { Janitor } from '../../shared/loops/janitor.ts';
import type { CrawlMeasures } from '../../shared/metrics/process-metrics.ts';
import type { WorkerBound } from '../../shared/ports/roster.ts';
import type { RunProgress, Runs } from '../../shared/ports/runs.ts';
import type { Sink } from '../../shared/ports/sink.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { makeOutputFolder } from '../../shared/runtime/files/output-folder.ts';
import { startAll, stopAll, stopTogether } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { VERSION } from '../../shared/runtime/version.ts';
import { readEnvironment } from '../../shared/settings/settings.ts';
import type { HostHeaders } from '../../shared/task/host/host-headers.ts';
import type { RoutingRule } from '../../shared/task/task/routing.ts';
import type { ProducerProgress } from '../producer/producer-progress.ts';
import type { Worker } from '../worker/worker.ts';
import { FailFastSink } from './fail-fast-sink.ts';
import { hostHeadersOf } from './host-headers.ts';
import { openReleaser } from './open-releaser.ts';
import { openWatchdog } from './open-watchdog.ts';
import { openWorker } from './open-worker.ts';
import { routingRulesOf } from './routing-rules.ts';
import type { RunPlan } from './run-plan.ts';
import { silentAfter } from './silenced-log.ts';
import { WatchedProducer } from './watched-producer.ts';

/** Interval at which it checks whether the run has ended. */
const POLL_EVERY_MS = 50;

interface Parts {
  readonly stores: Embedded;
  readonly sink: FailFastSink;
  readonly rules: readonly RoutingRule[];
  readonly hostHeaders: HostHeaders;
  readonly secrets: KnownSecrets;
  readonly worker: string;
  readonly interrupts: Stopping;
}

/** The means to follow a run while it is crawled. */
export interface Following {
  readonly watcher: RunWatcher;
  /** Returns a note on the producer's reading, or nothing if it has finished. */
  readonly reading: () => string | undefined;
  /** Returns the progress of the producer. */
  readonly produced: () => ProducerProgress;
  /** Resolves when there is nothing more to follow. */
  readonly untilOver: (signal: AbortSignal) => Promise<void>;
}

/** The caller's side of an embedded fleet: its log, its sink, and callbacks. */
export interface EmbeddedContext {
  readonly log: Logger;
  /** The sink for records. Default: the one that the settings name. */
  readonly sink?: Sink;
  /** Measures of the process, if it counts what its crawls do. */
  readonly measures?: CrawlMeasures;
  /** Waits until the run is over, or `signal` is aborted. */
  follow(following: Following, signal: AbortSignal): Promise<void>;
  /** Checks that the seeds can be read, whether for the first time or again. Left out if they are URLs. */
  expectSeeds?(plan: RunPlan): Promise<void>;
  /** Called when the fleet is being stopped, which takes at most this many seconds. */
  onStopping?(seconds: number): void;
}

/** A request to stop the fleet. */
export interface Stopping {
  readonly signal: AbortSignal;
  /** The operating system's signal, or whatever else asked it to stop; nothing if nothing did. */
  readonly by: string | undefined;
  /** Seconds that stopping may take. */
  readonly seconds: number;
  /** Lines to print if a step blocks the process. */
  readonly lastWords: readonly string[];
  /** Runs `stop`, and also `hurry` if that takes too long. */
  within(stop: () => Promise<void>, hurry: () => void): Promise<void>;
}

/** A fleet in one process: producer, releaser and worker of one run, until the run has ended or must stop. */
export class EmbeddedFleet {
  readonly #plan: RunPlan;
  readonly #context: EmbeddedContext;
  #isSealed = false;
  #watched: WatchedProducer | undefined;
  #failure: AbortSignal | undefined;

  constructor(plan: RunPlan, context: EmbeddedContext) {
    this.#plan = plan;
    this.#context = context;
  }

  /** Whether all seeds have been read. */
  get isAllRead(): boolean {
    return this.#isSealed || this.#watched?.progress.state === 'done';
  }

  /** The error of a failed write, because of which everything was stopped. */
  get failure(): Error | undefined {
    return this.#failure?.aborted === true ? (this.#failure.reason as Error) : undefined;
  }

  /** Crawls, and returns the final progress, or nothing if it was stopped before it began. Call it once. */
  async run(interrupts: Stopping): Promise<RunProgress | undefined> {
    const { settings, run, kept, loaded } = this.#plan;
    // Read first, so that wrong settings are found before anything is written.
    const rules = await routingRulesOf(settings);
    const hostHeaders = await hostHeadersOf(settings);
    const secrets = secretsFrom(readEnvironment(), [loaded.crawler]);
    secrets.of(loaded.crawler);
    const worker = newWorkerId();
    if (kept !== undefined || (settings.sink === undefined && this.#context.sink === undefined))
      makeOutputFolder(join(settings.outputDir, run));
    const { measures } = this.#context;
    const records =
      this.#context.sink ??
      (await openSink(
        { log: this.#context.log, settings, name: `trawl crawl ${worker}`, signal: interrupts.signal },
        worker,
      ));
    const sinkName = this.#context.sink !== undefined ? 'memory' : sinkNameOf(settings);
    const counted = measures?.sink(records, sinkName) ?? records;
    const sink = new FailFastSink(counted, await openFiles(settings), systemClock);
    const syncRecords = (): Promise<void> => sink.sync();
    const opened = await openEmbedded(settings, kept && { ...kept, syncRecords });
    const stores = measures?.stores(opened) ?? opened;
    try {
      return await this.#work({ stores, sink, rules, hostHeaders, secrets, worker, interrupts });
    } finally {
      await stores.owned?.close();
      stores.close();
    }
  }

  async #work({
    stores,
    sink,
    rules,
    hostHeaders,
    secrets,
    worker,
    interrupts,
  }: Parts): Promise<RunProgress | undefined> {
    const { settings, run, runOptions, loaded, offeredBy } = this.#plan;
    const { transport, runs, owned } = stores;
    await resumeLogins(runs, run);
    const isSealed = owned?.isSealed ?? false;
    if (!isSealed) await this.#context.expectSeeds?.(this.#plan);
    this.#isSealed = isSealed;
    const failure = AbortSignal.any([sink.failure, ...(owned === undefined ? [] : [owned.failure])]);
    this.#failure = failure;
    const log = silentAfter(this.#context.log, failure);
    const { measures } = this.#context;
    const opened = await openFetcher({ settings, version: VERSION, hostHeaders, log });
    const fetcher = measures?.fetcher(opened) ?? opened;
    const { files } = sink;
    const parts = { settings, stores, transport, sink, files, defaults: runOptions, worker, log };
    const releaser = openReleaser(parts);
    const janitor = new Janitor({ frontier: stores.frontier, clock: systemClock, log });
    const onOffered = (): void => releaser.nudge();
    const watch = openWatchdog(settings, () => ['What is done is kept.', ...interrupts.lastWords]);
    const pages = openWorker({
      ...parts,
      fetcher,
      rules,
      watch,
      observer: measures?.observer,
      onOffered,
      catalogue: new Catalogue([loaded]),
      secrets,
    });
    const watched = new WatchedProducer({
      settings,
      stores,
      fetcher,
      rules,
      run,
      runOptions,
      producer: worker,
      log,
      startOf: (href) => loaded.crawler.startOf(href),
      sharesLoop: true,
      onOffered,
    });
    this.#watched = watched;
    await startAll([transport, sink, watch, pages, releaser, janitor]);
    try {
      const stop = AbortSignal.any([interrupts.signal, failure]);
      const follow = (signal: AbortSignal): Promise<void> => this.#follow(stores, { watched, pages }, signal);
      // If everything was offered before, no producer is needed.
      if (offeredBy !== undefined) await runs.open(run, runOptions, offeredBy);
      if (isSealed || offeredBy !== undefined) await follow(stop);
      else await watched.meanwhile(this.#plan.seeds, stop, follow);
    } catch (error: unknown) {
      if (!failure.aborted) throw error;
    } finally {
      if (failure.aborted) pages.abort();
      else if (interrupts.by !== undefined) this.#context.onStopping?.(interrupts.seconds);
      await interrupts.within(
        () => stopTogether([pages, releaser, janitor]),
        () => pages.abort(),
      );
      await owned?.sync();
      await stopAll([sink, transport, fetcher, watch]);
    }
    const progress = await runs.progress(run).catch((error: unknown) => {
      // The database itself may be the cause of the failure.
      if (!failure.aborted) throw error;
      return undefined;
    });
    if (progress?.endedAt !== undefined && !failure.aborted) await owned?.end();
    return progress;
  }

  async #follow(
    { runs }: Embedded,
    { watched, pages }: { readonly watched: WatchedProducer; readonly pages: Worker },
    signal: AbortSignal,
  ): Promise<void> {
    const ownBound = (): WorkerBound => pages.bound;
    const watcher = new RunWatcher({ run: this.#plan.run, runs, clock: systemClock, ownBound });
    const untilOver = (over: AbortSignal): Promise<void> => watcher.untilEnded(POLL_EVERY_MS, over);
    await this.#context.follow(
      { watcher, reading: () => watched.note, produced: () => watched.progress, untilOver },
      signal,
    );
  }
}

/** Resumes a run that was paused by a failed login: it was stopped to fix that. */
async function resumeLogins(runs: Runs, run: string): Promise<void> {
  const { state, pauseReason } = (await runs.progress(run)) ?? {};
  if (state === 'paused' && pauseReason?.startsWith(LOGIN_FAILED) === true) await runs.resume(run);
}
