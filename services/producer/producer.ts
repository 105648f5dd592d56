import type { Readable } from 'node:stream';
import type { Fetcher } from '../../shared/ports/fetcher.ts';
import { type Frontier, MAX_OFFER } from '../../shared/ports/frontier/frontier.ts';
import type { HostGate } from '../../shared/ports/host-gate.ts';
import { type OpenedRun, PRODUCER_LEASE_MS, type RunOptions, type Runs } from '../../shared/ports/runs.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { LoopShare } from '../../shared/runtime/loop-share.ts';
import { Turns } from '../../shared/runtime/turns.ts';
import { partsOf } from '../../shared/task/parts.ts';
import { pageEntries } from '../../shared/task/sitemap/sitemap-entry.ts';
import type { RoutingRule } from '../../shared/task/task/routing.ts';
import { inputKeyOf } from './input-key.ts';
import { Offerer } from './offerer.ts';
import type { ProducerProgress, ProducerState } from './producer-progress.ts';
import { KEPT_MS } from './recent-offers.ts';
import { RunClosedError } from './run-closed.ts';
import { RunLostError } from './run-lost.ts';
import type { SeedEvent } from './seed-event.ts';
import type { SeedReader } from './seed-reader.ts';
import { openSeedReading } from './seed-reading.ts';
import { type Seed, seedsByHost, withoutPages } from './seeds.ts';
import type { SitemapReader } from './sitemaps/sitemap-reader.ts';

const DEFAULT_WINDOW = 4;
/** Hosts whose seeds are read at once. Most of the time, each waits for its turn at its host. */
const HOSTS_AT_ONCE = 64;
const DEFAULT_BEAT_MS = PRODUCER_LEASE_MS / 4;

/** The collaborators and options of a {@link Producer}. */
export interface ProducerParts {
  readonly frontier: Frontier;
  readonly runs: Runs;
  readonly fetcher: Fetcher;
  readonly hostGate: HostGate;
  readonly clock: Clock;
  readonly rules: readonly RoutingRule[];
  /** See {@link OfferRules.startOf}. */
  readonly startOf?: (href: string) => string;
  /** The input behind the seed `-`. */
  readonly input: Readable;
  readonly options: ProducerOptions;
  readonly on?: ProducerListeners;
}

export interface ProducerOptions {
  readonly run: string;
  /** Options for a run that doesn't exist yet; an existing one keeps its own. */
  readonly runOptions: RunOptions;
  /** This producer's id among those of the run. */
  readonly producer: string;
  /** Maximum open requests to one host, for sitemaps as for pages; 0 means no limit. */
  readonly hostConcurrency: number;
  /** How to treat robots.txt if the run doesn't say. Default: obey. */
  readonly robots?: 'obey' | 'ignore';
  /** Maximum redirects followed for one document. Default: 10. */
  readonly maxRedirects?: number;
  /** Maximum bytes of one sitemap, unpacked. Default: 1 GiB. */
  readonly maxSitemapBytes?: number;
  /** Sitemap entries last changed before this are left out; epoch milliseconds. */
  readonly since?: number | undefined;
  /** The same as the user gave it, which may be an age. */
  readonly sinceAsGiven?: string | undefined;
  /** Maximum offers in progress at once. Default: 4. */
  readonly window?: number;
  /** Whether the process also crawls, so that its pages need their turns on the event loop. Default: no. */
  readonly sharesLoop?: boolean;
  /** Interval between two beats. Default: 15 s. */
  readonly beatMs?: number;
  /** Returns a number in [0, 1), for the delay before a retry. */
  readonly random?: () => number;
}

/** Listeners that report to people while the producer works. */
interface ProducerListeners {
  /** `problem` is the end of a sentence that begins with `source`: a sitemap's URL, a file. */
  problem?(source: string, problem: string): void;
  hint?(hint: string): void;
  opened?(how: OpenedRun['how'], options: RunOptions): void;
  /** The frontier has accepted something new, so there may be tasks to release. */
  accepted?(): void;
}

/**
 * Turns seeds into tasks of a run: finds and reads sitemaps, and offers the URLs they list. Seeds of up to 64 hosts are read at once, those
 * of one host in order, so that a slow or dead site holds up no other. Files and lists are read one after another. Pages wait for none of
 * them.
 *
 * It opens the run and sends beats until it ends. When everything is offered it seals the run. If it is stopped or fails, it leaves the run open,
 * so that half a sitemap never passes for a whole one.
 */
export class Producer {
  readonly #parts: ProducerParts;
  readonly #stop = new AbortController();
  readonly #offerer: Offerer;
  #sitemaps: SitemapReader | undefined;
  #state: Exclude<ProducerState, 'waiting: store is full'> = 'idle';
  /** The document that each seed being read is at; the one begun last comes last. */
  readonly #sources = new Map<Seed, string>();
  #problems = 0;
  /** The run's own options, once it is open. */
  #own: RunOptions;
  #input: string | undefined;
  #incarnation: string | undefined;
  /** When this producer created the run; -Infinity if it joined an existing one. */
  #createdAt = Number.NEGATIVE_INFINITY;
  /** Since when the store has been unreachable, as far as is known. */
  #awaySince: number | undefined;
  #loss: RunLostError | undefined;

  constructor(parts: ProducerParts) {
    const { frontier, clock, rules, startOf, options } = parts;
    this.#parts = parts;
    this.#own = options.runOptions;
    this.#offerer = new Offerer({
      frontier,
      clock,
      rules: () => ({ rules, urlKey: this.#own.urlKey, startOf }),
      limit: () => this.#own.limit,
      run: options.run,
      incarnation: () => this.#incarnation,
      window: options.window ?? DEFAULT_WINDOW,
      loop: options.sharesLoop === true ? new LoopShare() : undefined,
      signal: this.#stop.signal,
      accepted: () => parts.on?.accepted?.(),
      failed: () => this.#stop.abort(),
      refused: () => this.#openIfRefused(),
    });
  }

  /** The incarnation of the run that it has opened; undefined before that. */
  get incarnation(): string | undefined {
    return this.#incarnation;
  }

  /** A snapshot of its progress. */
  progress(): ProducerProgress {
    return {
      state: this.#state === 'reading' && this.#offerer.isWaiting ? 'waiting: store is full' : this.#state,
      source: [...this.#sources.values()].at(-1),
      ...this.#offerer.counts,
      older: { ...(this.#sitemaps?.older ?? { pages: 0, sitemaps: 0 }) },
      unwanted: this.#sitemaps?.unwanted ?? 0,
      sitemaps: this.#sitemaps?.sitemaps ?? 0,
      problems: this.#problems,
    };
  }

  /**
   * Offers everything that the seeds stand for. Call it once. When `signal` is aborted, it stops reading, waits for the offers in progress,
   * and resolves with state `stopped`.
   *
   * @throws {RunClosedError} when the run takes no URLs
   * @throws {RunLostError} when the store has lost the run
   */
  async produce(seeds: readonly Seed[], signal?: AbortSignal): Promise<ProducerProgress> {
    const stop = (): void => this.#stop.abort();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    let beat: NodeJS.Timeout | undefined;
    try {
      this.#stop.signal.throwIfAborted();
      this.#input = inputKeyOf(seeds, this.#parts.options.sinceAsGiven ?? '');
      const { how, options } = await this.#open();
      this.#parts.on?.opened?.(how, options);
      this.#offerer.tellsChanges = options.incremental;
      beat = this.#startBeat();
      this.#state = 'reading';
      await this.#readAll(seeds);
      await this.#seal();
    } catch (error: unknown) {
      if (this.#loss === undefined) this.#state = 'stopped';
      this.#stop.abort();
      // The error of an offer takes precedence, since it stopped the reading.
      await this.#offerer.stop();
      if (this.#loss !== undefined) throw this.#loss;
      if (signal?.aborted !== true) throw error;
    } finally {
      clearInterval(beat);
      signal?.removeEventListener('abort', stop);
    }
    return this.progress();
  }

  /** Notes that the store is unreachable from now on. */
  noteAway(): void {
    this.#awaySince ??= this.#parts.clock.monotonic();
  }

  /**
   * Repeats the offers of the last three seconds, for a store that came back without them. Known URLs are not counted again. A run that was
   * created in these seconds might be lost with them, and is then restored.
   *
   * @throws {RunLostError} when the store has lost an older run; {@link produce} throws the same
   */
  async repeatRecent(): Promise<void> {
    // In other states nothing has been opened yet, or nothing is left to do.
    if (this.#state === 'reading' || this.#state === 'done') await this.#repeatRecent();
  }

  async #repeatRecent(): Promise<void> {
    // Read before anything else: each answer from now on makes it forget older offers.
    const recent = this.#offerer.recent();
    await this.#open();
    this.#awaySince = undefined;
    await this.#offerer.repeat(recent);
    if (this.#state === 'done') await this.#sealOnce();
  }

  async #open(): Promise<OpenedRun> {
    const { runs, clock, options } = this.#parts;
    const { run, runOptions, producer } = options;
    const [input, incarnation] = [this.#input, this.#incarnation];
    const mayRestore = (this.#awaySince ?? clock.monotonic()) - this.#createdAt <= KEPT_MS;
    const opened = await runs.open(run, runOptions, producer, { input, incarnation, mayRestore });
    if (opened.how === 'lost') throw this.#lost();
    if (opened.how === 'cancelled') throw new RunClosedError(run, 'cancelled');
    if (opened.how === 'created' && incarnation === undefined) this.#createdAt = clock.monotonic();
    this.#own = opened.options;
    this.#incarnation = opened.incarnation;
    return opened;
  }

  /** Handles a refused offer. Resolves if it can be made again. */
  async #openIfRefused(): Promise<void> {
    const { runs, options } = this.#parts;
    const progress = await runs.progress(options.run);
    if (this.#loss !== undefined) throw this.#loss;
    if (progress?.incarnation !== this.#incarnation) return await this.#repeatRecent();
    const state = progress?.state;
    if (state === 'cancelled' || state === 'finished') throw new RunClosedError(options.run, state);
  }

  #lost(): RunLostError {
    this.#loss ??= new RunLostError(this.#parts.options.run);
    this.#state = 'unknown';
    this.#stop.abort();
    return this.#loss;
  }

  async #readAll(seeds: readonly Seed[]): Promise<void> {
    const { options, on } = this.#parts;
    const { robots = options.robots } = this.#own;
    const { signal } = this.#stop;
    const { sitemaps, reader } = openSeedReading({
      ...this.#parts,
      ...options,
      run: this.#own,
      obeysRobots: robots !== 'ignore',
      holder: options.producer,
      isEnough: () => this.#offerer.isBeyondLimit,
      hint: (hint) => on?.hint?.(hint),
      random: options.random ?? Math.random,
      signal,
    });
    this.#sitemaps = sitemaps;
    const { pages, others } = withoutPages(seeds);
    const readings = seedsByHost(others).map((ofOneHost) => async () => {
      for (const seed of ofOneHost) await this.#read(seed, reader());
    });
    await this.#together([() => this.#offerPages(pages), ...readings]);
    await this.#offerer.drain();
    signal.throwIfAborted();
  }

  /** Reads groups of seeds, some at once. The first error ends them all. */
  async #together(readings: readonly (() => Promise<void>)[]): Promise<void> {
    const turns = new Turns(HOSTS_AT_ONCE);
    let failure: { readonly error: unknown } | undefined;
    const readInTurn = async (read: () => Promise<void>): Promise<void> => {
      try {
        await turns.run(async () => {
          this.#stop.signal.throwIfAborted();
          await read();
        });
      } catch (error: unknown) {
        failure ??= { error };
        this.#stop.abort();
      }
    };
    await Promise.all(readings.map(readInTurn));
    if (failure !== undefined) throw failure.error;
  }

  /** Offers pages in large batches. A crawler can have a million of them, and waiting for an answer to each would take a thousand times as long. */
  async #offerPages(urls: readonly string[]): Promise<void> {
    for (const some of partsOf(urls, MAX_OFFER)) {
      this.#stop.signal.throwIfAborted();
      await this.#offerer.add(pageEntries(some), false);
    }
  }

  async #read(seed: Seed, reader: SeedReader): Promise<void> {
    try {
      for await (const found of reader.read(seed)) {
        this.#stop.signal.throwIfAborted();
        await this.#take(found, seed);
      }
    } finally {
      this.#sources.delete(seed);
    }
  }

  async #take(found: SeedEvent, seed: Seed): Promise<void> {
    const { on } = this.#parts;
    switch (found.kind) {
      case 'entries':
        await this.#offerer.add(found.entries, found.again, found.logins);
        break;
      case 'reading':
        this.#sources.delete(seed);
        this.#sources.set(seed, found.source);
        break;
      case 'problem':
        this.#problems++;
        on?.problem?.(found.source, found.problem);
        break;
      case 'hint':
        on?.hint?.(found.hint);
    }
  }

  async #seal(): Promise<void> {
    // The store may have lost the run a moment ago, and with it offers that can still be repeated.
    if (!(await this.#sealOnce())) {
      await this.#repeatRecent();
      if (!(await this.#sealOnce())) throw this.#lost();
    }
    this.#state = 'done';
  }

  async #sealOnce(): Promise<boolean> {
    const { runs, options } = this.#parts;
    return (await runs.seal(options.run, options.producer, this.#incarnation)) !== undefined;
  }

  /** Starts the beats. A failed beat costs nothing, since the lease outlasts three of them. */
  #startBeat(): NodeJS.Timeout {
    const { runs, options } = this.#parts;
    const beat = (): void => void runs.beat(options.run, options.producer).catch(() => {});
    return setInterval(beat, options.beatMs ?? DEFAULT_BEAT_MS).unref();
  }
}
