import type { Stores } from '../../shared/backends/backends.ts';
import { counted } from '../../shared/control/format.ts';
import { differingOptions } from '../../shared/control/run-options.ts';
import type { Fetcher } from '../../shared/ports/fetcher.ts';
import type { RunOptions, RunProgress } from '../../shared/ports/runs.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { timeOf } from '../../shared/task/sitemap/lastmod.ts';
import type { RoutingRule } from '../../shared/task/task/routing.ts';
import { Producer } from '../producer/producer.ts';
import type { ProducerProgress } from '../producer/producer-progress.ts';
import { RunLostError } from '../producer/run-lost.ts';
import type { Seed } from '../producer/seeds.ts';
import { tellLeftOut } from './left-out-of-sitemaps.ts';

interface WatchedProducerOptions {
  readonly settings: Settings;
  readonly stores: Stores;
  readonly fetcher: Fetcher;
  readonly rules: readonly RoutingRule[];
  readonly run: string;
  readonly runOptions: RunOptions;
  /** This producer's id among those of the run. */
  readonly producer: string;
  readonly log: Logger;
  /** See {@link OfferRules.startOf}. */
  readonly startOf: (href: string) => string;
  /** See {@link ProducerOptions.sharesLoop}. */
  readonly sharesLoop?: boolean;
  /** Called when the frontier has accepted something new. */
  readonly onOffered: () => void;
}

/** A running producer, and a watcher of its run. */
export class WatchedProducer {
  readonly #producer: Producer;
  readonly #log: Logger;
  readonly #since: number | undefined;
  readonly #opened = Promise.withResolvers<void>();
  readonly #over = new AbortController();
  #loss: RunLostError | undefined;
  #repeating: Promise<void> = Promise.resolve();

  constructor(parts: WatchedProducerOptions) {
    const {
      settings,
      stores,
      fetcher,
      rules,
      run,
      runOptions,
      producer,
      log,
      startOf,
      sharesLoop = false,
      onOffered,
    } = parts;
    const { frontier, runs, gate: hostGate } = stores;
    const { hostConcurrency, lastmodSince, maxRedirects, robots } = settings;
    const since = lastmodSince === undefined ? undefined : timeOf(lastmodSince, systemClock.now());
    const sinceAsGiven = JSON.stringify(lastmodSince);
    this.#log = log;
    this.#since = since;
    this.#producer = new Producer({
      frontier,
      runs,
      fetcher,
      hostGate,
      rules,
      startOf,
      clock: systemClock,
      input: process.stdin,
      options: { run, runOptions, producer, hostConcurrency, maxRedirects, robots, since, sinceAsGiven, sharesLoop },
      on: {
        problem: (source, problem) => log.warn({ what: source, error: problem }, 'could not be read:'),
        hint: (hint) => log.warn({}, hint),
        accepted: onOffered,
        opened: (how, own) => {
          if (how === 'joined' || how === 'reopened') warnOfOptions(run, runOptions, own, log);
          this.#opened.resolve();
        },
      },
    });
  }

  /** The document it is reading, for the progress line; nothing once everything is offered. */
  get note(): string | undefined {
    const { state, source, offered } = this.#producer.progress();
    if (state === 'waiting: store is full') return 'waiting: Redis is full';
    if (state !== 'reading' || source === undefined) return undefined;
    return `${counted(offered, 'URL')} so far, reading ${source}`;
  }

  get progress(): ProducerProgress {
    return this.#producer.progress();
  }

  /** Returns whether this is the run that this producer opened, and not another one of its name. */
  isOwn({ incarnation }: Pick<RunProgress, 'incarnation'>): boolean {
    return this.#producer.incarnation === undefined || incarnation === this.#producer.incarnation;
  }

  /** Notes that the store is unreachable from now on. */
  noteAway(): void {
    this.#producer.noteAway();
  }

  /** Repeats recent offers: see {@link Producer.repeatRecent}. The run is open again meanwhile, and {@link meanwhile} waits for that. */
  repeatRecent(): void {
    this.#repeating = this.#repeating
      .then(() => this.#producer.repeatRecent())
      .catch((error: unknown) => {
        if (error instanceof RunLostError) {
          this.#loss = error;
          this.#over.abort();
        } else {
          this.#log.warn({ error: messageOf(error) }, 'could not repeat offers');
        }
      });
  }

  /** Resolves when no repeat is in progress. */
  async repeated(): Promise<void> {
    for (let waited: Promise<void> | undefined; waited !== this.#repeating; ) {
      waited = this.#repeating;
      await waited;
    }
  }

  /**
   * Offers the seeds, and runs `watch` from the moment the run is open. The signal of `watch` is aborted with `signal`, when producing
   * fails, or when the run is lost. Rejects with the error of either.
   */
  async meanwhile(
    seeds: readonly Seed[],
    signal: AbortSignal,
    watch: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    const over = this.#over;
    const stop = (): void => over.abort();
    signal.addEventListener('abort', stop, { once: true });
    const producing = this.#producer
      .produce(seeds, signal)
      .then(() => tellLeftOut(this.#producer.progress(), this.#since, this.#log))
      .catch((error: unknown) => {
        over.abort();
        throw error;
      });
    try {
      const watching = Promise.race([this.#opened.promise, producing]).then(() => watch(over.signal));
      await Promise.all([producing, watching]);
      if (!signal.aborted) await this.repeated();
      if (this.#loss !== undefined) throw this.#loss;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}

/** Warns about flags that are ignored, since a run's options are fixed when it opens. */
function warnOfOptions(run: string, asked: RunOptions, own: RunOptions, log: Logger): void {
  const ignored = differingOptions(own, asked);
  if (ignored.length > 0) log.warn({ what: ignored.join(', ') }, `run ${run} keeps the options it was opened with:`);
}
