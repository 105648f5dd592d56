import { join } from 'node:path';
import { newWorkerId, openFetcher } from '../../../shared/backends/backends.ts';
import { type Embedded, openEmbedded } from '../../../shared/backends/embedded.ts';
import { openSink } from '../../../shared/backends/records.ts';
import { RunWatcher } from '../../../shared/control/run-watcher.ts';
import { loadCrawler } from '../../../shared/crawler/load.ts';
import { Janitor } from '../../../shared/loops/janitor.ts';
import type { RunProgress } from '../../../shared/ports/runs.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { startAll, stopAll, stopTogether } from '../../../shared/runtime/lifecycle.ts';
import { makeOutputFolder } from '../../../shared/runtime/output-folder.ts';
import { VERSION } from '../../../shared/runtime/version.ts';
import type { HostHeaders } from '../../../shared/task/host/host-headers.ts';
import type { RoutingRule } from '../../../shared/task/task/routing.ts';
import type { Context } from '../command.ts';
import { say } from '../text/output.ts';
import { DRAW_EVERY_MS, isWatched, ProgressLine } from '../text/progress-line.ts';
import { type CrawlPlan, expectSeeds } from './crawl-plan.ts';
import { HaltingSink, silentAfter } from './halting.ts';
import { hostHeadersOf } from './host-headers.ts';
import type { Interrupts } from './interrupts.ts';
import { openReleaser } from './open-releaser.ts';
import { openWatchdog, openWorker } from './open-worker.ts';
import { Producing } from './producing.ts';
import { routingRulesOf } from './routing-rules.ts';

/** Between two looks whether the run has ended. */
const POLL_EVERY_MS = 50;

interface Parts {
  readonly stores: Embedded;
  readonly sink: HaltingSink;
  readonly rules: readonly RoutingRule[];
  readonly hostHeaders: HostHeaders;
  readonly worker: string;
  readonly interrupts: Interrupts;
}

/** A crawl at work: all parts of it in this process, until its run has ended, or it is to stop. */
export class Crawling {
  readonly #plan: CrawlPlan;
  readonly #context: Context;
  #isSealed = false;
  #producing: Producing | undefined;
  #failure: AbortSignal | undefined;

  constructor(plan: CrawlPlan, context: Context) {
    this.#plan = plan;
    this.#context = context;
  }

  /** Is nothing left to be read of the seeds? */
  get isAllRead(): boolean {
    return this.#isSealed || this.#producing?.progress.state === 'done';
  }

  /** What could not be written. Everything was stopped then. */
  get failure(): Error | undefined {
    return this.#failure?.aborted === true ? (this.#failure.reason as Error) : undefined;
  }

  /** Crawls, and tells how far it came; nothing if it was stopped before it began. Once only. */
  async run(interrupts: Interrupts): Promise<RunProgress | undefined> {
    const { settings, run, runOptions, kept } = this.#plan;
    await loadCrawler(runOptions.crawler);
    // What is wrong with the settings is found before anything is kept.
    const rules = await routingRulesOf(settings);
    const hostHeaders = await hostHeadersOf(settings);
    const worker = newWorkerId();
    if (kept !== undefined || settings.sink === undefined) makeOutputFolder(join(settings.outputDir, run));
    const sink = new HaltingSink(
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
    const pages = openWorker({ ...parts, fetcher, rules, watch, onOffered });
    const producing = new Producing({
      settings,
      stores,
      fetcher,
      rules,
      run,
      runOptions,
      producer: worker,
      log,
      onOffered,
    });
    this.#producing = producing;
    await startAll([transport, sink, watch, pages, releaser, janitor]);
    try {
      const stop = AbortSignal.any([interrupts.signal, failure]);
      const follow = (signal: AbortSignal): Promise<void> => this.#follow(stores, producing, signal);
      // Where all was offered before, a producer would only have to say so again.
      if (isSealed) await follow(stop);
      else await producing.meanwhile(this.#plan.seeds, stop, follow);
    } catch (error: unknown) {
      if (!failure.aborted) throw error;
    } finally {
      if (failure.aborted) pages.abort();
      else if (interrupts.by !== undefined)
        say('Finishing what is under way, at most 10 s. Ctrl-C again stops at once.');
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

  async #follow({ runs }: Embedded, producing: Producing, signal: AbortSignal): Promise<void> {
    const watcher = new RunWatcher({ run: this.#plan.run, runs, clock: systemClock });
    if (!isWatched(this.#context.json)) return await watcher.untilEnded(POLL_EVERY_MS, signal);
    const line = new ProgressLine();
    try {
      await watcher.follow(DRAW_EVERY_MS, (view) => line.show(view, producing.note), signal);
    } finally {
      line.clear();
    }
  }
}
