import type { Readable } from 'node:stream';
import { duration } from '../../shared/control/format.ts';
import type { Fetcher } from '../../shared/ports/fetcher.ts';
import { type Frontier, MAX_OFFER } from '../../shared/ports/frontier/frontier.ts';
import type { HostGate } from '../../shared/ports/host-gate.ts';
import { type OpenedRun, PRODUCER_LEASE_MS, type RunOptions, type Runs } from '../../shared/ports/runs.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { LoopShare } from '../../shared/runtime/loop-share.ts';
import { Turns } from '../../shared/runtime/turns.ts';
import { DAY_MS } from '../../shared/task/durations.ts';
import { partsOf } from '../../shared/task/parts.ts';
import { pageEntries } from '../../shared/task/sitemap/sitemap-entry.ts';
import type { RoutingRule } from '../../shared/task/task/routing.ts';
import { DocumentFetcher } from './documents/document-fetcher.ts';
import { inputKeyOf } from './input-key.ts';
import { Offerer } from './offerer.ts';
import type { ProducerProgress, ProducerState } from './producer-progress.ts';
import { KEPT_MS } from './recent-offers.ts';
import { RunClosedError } from './run-closed.ts';
import { RunLostError } from './run-lost.ts';
import type { SeedEvent } from './seed-event.ts';
import { SeedReader } from './seed-reader.ts';
import { type Seed, seedsByHost, withoutPages } from './seeds.ts';
import { SitemapReader } from './sitemaps/sitemap-reader.ts';

const DEFAULT_MAX_SITEMAP_BYTES = 2 ** 30;
const DEFAULT_WINDOW = 4;
/** Hosts whose seeds are read at once. Most of the time, each waits for its turn at its host. */
const HOSTS_AT_ONCE = 64;
const DEFAULT_BEAT_MS = PRODUCER_LEASE_MS / 4;

/** What a {@link Producer} needs. */
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
  /** For a run that doesn't exist yet; one that does keeps its own. */
  readonly runOptions: RunOptions;
  /** This producer's id among those of the run. */
  readonly producer: string;
  /** Open requests to one host, for sitemaps as for pages; 0 for no limit. */
  readonly hostConcurrency: number;
  /** What to do with the rules of robots.txt where the run doesn't say; obey. */
  readonly robots?: 'obey' | 'ignore';
  /** Followed for one document; 10. */
  readonly maxRedirects?: number;
  /** Of one sitemap, unpacked; 1 GiB. */
  readonly maxSitemapBytes?: number;
  /** Entries of sitemaps that were last changed before are left out; epoch milliseconds. */
  readonly since?: number | undefined;
  /** The same as given by the user: as an age, say. */
  readonly sinceAsGiven?: string | undefined;
  /** Offers under way at once; 4. */
  readonly window?: number;
  /** Does the process crawl as well? Then its pages have their turns on the event loop. Default: no. */
  readonly sharesLoop?: boolean;
  /** Between two signs of life; 15 s. */
  readonly beatMs?: number;
  /** A number in [0, 1), for the delay before a retry. */
  readonly random?: () => number;
}

/** Reported to people while it happens. */
interface ProducerListeners {
  /** The end of a sentence that begins with `source`: a sitemap's URL, a file. */
  problem?(source: string, problem: string): void;
  hint?(hint: string): void;
  opened?(how: OpenedRun['how'], options: RunOptions): void;
  /** The frontier has taken something new: there may be something to release. */
  accepted?(): void;
}

/**
 * Turns seeds into tasks of a run: finds and reads sitemaps, and offers what they list. Seeds of up to 64 hosts are read at once, those
 * of one host in order: a site that is slow, or gone, holds up no other. Files and lists are read one after another. Pages wait for none
 * of them.
 *
 * It opens the run and says that it is alive until it ends. When all is offered it seals the run; stopped or failed, it
 * leaves the run open, so that half a sitemap is never taken for a whole one.
 */
export class Producer {
  readonly #parts: ProducerParts;
  readonly #stop = new AbortController();
  readonly #offerer: Offerer;
  #sitemaps: SitemapReader | undefined;
  #state: Exclude<ProducerState, 'waiting: store is full'> = 'idle';
  /** The document that each seed is at, of those that are read; the one begun last is the last. */
  readonly #sources = new Map<Seed, string>();
  #problems = 0;
  /** The run's own options, once it is open. */
  #own: RunOptions;
  #input: string | undefined;
  #incarnation: string | undefined;
  /** When this producer created the run; nothing if it joined it. */
  #createdAt = Number.NEGATIVE_INFINITY;
  /** Since when the store is away, as far as is known. */
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

  /** Which one of the runs of its name it has opened; nothing before it has. */
  get incarnation(): string | undefined {
    return this.#incarnation;
  }

  /** A copy, of this moment. */
  progress(): ProducerProgress {
    return {
      state: this.#state === 'reading' && this.#offerer.isWaiting ? 'waiting: store is full' : this.#state,
      source: [...this.#sources.values()].at(-1),
      ...this.#offerer.counts,
      older: { ...(this.#sitemaps?.older ?? { pages: 0, sitemaps: 0 }) },
      sitemaps: this.#sitemaps?.sitemaps ?? 0,
      problems: this.#problems,
    };
  }

  /**
   * Offers all that the seeds stand for. Once only. When `signal` is aborted, it stops reading, waits for the offers under
   * way, and resolves with state `stopped`.
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
      // The error of an offer comes first: it stopped the reading.
      await this.#offerer.stop();
      if (this.#loss !== undefined) throw this.#loss;
      if (signal?.aborted !== true) throw error;
    } finally {
      clearInterval(beat);
      signal?.removeEventListener('abort', stop);
    }
    return this.progress();
  }

  /** The store is away, from now on. */
  noteAway(): void {
    this.#awaySince ??= this.#parts.clock.monotonic();
  }

  /**
   * Makes the offers of the last three seconds again, for a store that came back without them. Known URLs are not counted
   * again. A run that was created in these seconds may be lost with them, and is restored.
   *
   * @throws {RunLostError} when the store has lost a run that is older; {@link produce} throws the same
   */
  async repeatRecent(): Promise<void> {
    // Before that nothing was opened; afterwards nothing is left to do.
    if (this.#state === 'reading' || this.#state === 'done') await this.#repeatRecent();
  }

  async #repeatRecent(): Promise<void> {
    // Now: what is answered from now on makes older ones forgotten.
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

  /** An offer was refused. Resolves if it can be made again. */
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
    const { input, options, hostGate, on } = this.#parts;
    const { intervalMs, follow, robots = options.robots } = this.#own;
    const { signal } = this.#stop;
    const documents = new DocumentFetcher({
      ...this.#parts,
      limit: { intervalMs, concurrency: options.hostConcurrency },
      holder: options.producer,
      maxRedirects: options.maxRedirects,
      onLongWait: (href, ms) =>
        on?.hint?.(`${href} is read later: its host may not be asked for ${duration(ms)} (status says why)`),
      random: options.random ?? Math.random,
    });
    const maxSitemapBytes = options.maxSitemapBytes ?? DEFAULT_MAX_SITEMAP_BYTES;
    const isEnough = (): boolean => this.#offerer.isBeyondLimit;
    this.#sitemaps = new SitemapReader({ documents, maxSitemapBytes, since: options.since, isEnough, signal });
    const slow = (host: string, ms: number): Promise<void> => hostGate.slow(host, ms, DAY_MS);
    const isObeyed = robots !== 'ignore';
    const parts = { documents, sitemaps: this.#sitemaps, input, follow, slow: isObeyed ? slow : undefined, signal };
    const { pages, others } = withoutPages(seeds);
    const readings = seedsByHost(others).map((ofOneHost) => async () => {
      for (const seed of ofOneHost) await this.#read(seed, new SeedReader(parts));
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

  /** Together: a crawler may have a million of them, and an answer to each would take a thousand times as long. */
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
    // The store may have lost the run just now, and with it the offers that can still be made again.
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

  /** A failed beat costs nothing: the lease outlasts three of them. */
  #startBeat(): NodeJS.Timeout {
    const { runs, options } = this.#parts;
    const beat = (): void => void runs.beat(options.run, options.producer).catch(() => {});
    return setInterval(beat, options.beatMs ?? DEFAULT_BEAT_MS).unref();
  }
}
