import { join } from 'node:path';
import { newWorkerId, openFetcher } from '../../../shared/backends/backends.ts';
import { type Embedded, openEmbedded } from '../../../shared/backends/embedded.ts';
import { openSink } from '../../../shared/backends/sinks.ts';
import { RunWatcher } from '../../../shared/control/run-watcher.ts';
import type { Crawler } from '../../../shared/crawler/crawler.ts';
import { loadCrawler } from '../../../shared/crawler/load.ts';
import { Janitor } from '../../../shared/loops/janitor.ts';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { startAll, stopAll, stopTogether } from '../../../shared/runtime/lifecycle.ts';
import { makeOutputFolder } from '../../../shared/runtime/output-folder.ts';
import { VERSION } from '../../../shared/runtime/version.ts';
import type { HostHeaders } from '../../../shared/task/host/host-headers.ts';
import type { RoutingRule } from '../../../shared/task/task/routing.ts';
import { FIRST_STEP } from '../../../shared/task/url/fingerprint.ts';
import type { Worker } from '../../worker/worker.ts';
import type { Context } from '../command.ts';
import { say } from '../text/output.ts';
import { FailFastSink } from './fail-fast-sink.ts';
import { followRun } from './follow-run.ts';
import { hostHeadersOf } from './host-headers.ts';
import type { Interrupts } from './interrupts.ts';
import { openReleaser } from './open-releaser.ts';
import { openWatchdog, openWorker } from './open-worker.ts';
import { routingRulesOf } from './routing-rules.ts';
import { expectSeeds, type RunPlan } from './run-plan.ts';
import { silentAfter } from './silenced-log.ts';
import { WatchedProducer } from './watched-producer.ts';

/** Between two checks whether the run has ended. */
const POLL_EVERY_MS = 50;

interface Parts {
  readonly stores: Embedded;
  readonly sink: FailFastSink;
  readonly rules: readonly RoutingRule[];
  readonly hostHeaders: HostHeaders;
  readonly worker: string;
  readonly interrupts: Interrupts;
}

/** A fleet in one process: producer, releaser and worker of one run, until it has ended, or is to stop. */
export class EmbeddedFleet {
  readonly #plan: RunPlan;
  readonly #context: Context;
  #isSealed = false;
  #watched: WatchedProducer | undefined;
  #failure: AbortSignal | undefined;
  #crawler: Crawler | undefined;

  constructor(plan: RunPlan, context: Context) {
    this.#plan = plan;
    this.#context = context;
  }

  /** Have all seeds been read? */
  get isAllRead(): boolean {
    return this.#isSealed || this.#watched?.progress.state === 'done';
  }

  /** What could not be written; everything was stopped because of it. */
  get failure(): Error | undefined {
    return this.#failure?.aborted === true ? (this.#failure.reason as Error) : undefined;
  }

  /** Crawls, and returns the final progress; nothing if it was stopped before it began. Call it once. */
  async run(interrupts: Interrupts): Promise<RunProgress | undefined> {
    const { settings, run, runOptions, kept } = this.#plan;
    const crawlers = { folder: settings.crawlersDir, takesPaths: true };
    this.#crawler = await loadCrawler(runOptions.crawler, crawlers);
    // Wrong settings are found before anything is written.
    const rules = await routingRulesOf(settings);
    const hostHeaders = await hostHeadersOf(settings);
    const worker = newWorkerId();
    if (kept !== undefined || settings.sink === undefined) makeOutputFolder(join(settings.outputDir, run));
    const sink = new FailFastSink(
      await openSink({ ...this.#context, settings, name: `trawl crawl ${worker}`, signal: interrupts.signal }, worker),
    );
    const syncRecords = (): Promise<void> => sink.sync();
    const stores = await openEmbedded(settings, kept && { ...kept, syncRecords });
    try {
      return await this.#work({ stores, sink, rules, hostHeaders, worker, interrupts });
    } finally {
      await stores.owned?.close();
      stores.close();
    }
  }

  async #work({ stores, sink, rules, hostHeaders, worker, interrupts }: Parts): Promise<RunProgress | undefined> {
    const { settings, run, runOptions } = this.#plan;
    const { transport, runs, owned } = stores;
    const isSealed = owned?.isSealed ?? false;
    if (!isSealed) await expectSeeds(this.#plan);
    this.#isSealed = isSealed;
    const failure = AbortSignal.any([sink.failure, ...(owned === undefined ? [] : [owned.failure])]);
    this.#failure = failure;
    const log = silentAfter(this.#context.log, failure);
    const fetcher = await openFetcher({ settings, version: VERSION, hostHeaders, log });
    const parts = { settings, stores, transport, sink, defaults: runOptions, worker, log };
    const releaser = openReleaser(parts);
    const janitor = new Janitor({ frontier: stores.frontier, clock: systemClock, log });
    const onOffered = (): void => releaser.nudge();
    const watch = openWatchdog(settings, () => ['What is done is kept.', ...interrupts.lastWords]);
    const pages = openWorker({ ...parts, fetcher, rules, watch, onOffered, takesPaths: true });
    const watched = new WatchedProducer({
      settings,
      stores,
      fetcher,
      rules,
      run,
      runOptions,
      producer: worker,
      log,
      startOf: (href) => this.#crawler?.startOf(href) ?? FIRST_STEP,
      onOffered,
    });
    this.#watched = watched;
    await startAll([transport, sink, watch, pages, releaser, janitor]);
    try {
      const stop = AbortSignal.any([interrupts.signal, failure]);
      const follow = (signal: AbortSignal): Promise<void> => this.#follow(stores, { watched, pages }, signal);
      // If everything was offered before, no producer is needed.
      if (isSealed) await follow(stop);
      else await watched.meanwhile(this.#plan.seeds, stop, follow);
    } catch (error: unknown) {
      if (!failure.aborted) throw error;
    } finally {
      if (failure.aborted) pages.abort();
      else if (interrupts.by !== undefined)
        say(`Finishing the pages in hand, at most ${interrupts.seconds} s. Ctrl-C again stops at once.`);
      await interrupts.within(
        () => stopTogether([pages, releaser, janitor]),
        () => pages.abort(),
      );
      await owned?.sync();
      await stopAll([sink, transport, fetcher, watch]);
    }
    const progress = await runs.progress(run);
    if (progress?.endedAt !== undefined && !failure.aborted) await owned?.end();
    return progress;
  }

  async #follow(
    { runs }: Embedded,
    { watched, pages }: { readonly watched: WatchedProducer; readonly pages: Worker },
    signal: AbortSignal,
  ): Promise<void> {
    const isNetworkAway = (): boolean => pages.isNetworkAway;
    const watcher = new RunWatcher({ run: this.#plan.run, runs, clock: systemClock, isNetworkAway });
    const untilOver = (over: AbortSignal): Promise<void> => watcher.untilEnded(POLL_EVERY_MS, over);
    const { telling } = this.#context;
    await followRun({ watcher, telling, reading: () => watched.note, untilOver }, signal);
  }
}
