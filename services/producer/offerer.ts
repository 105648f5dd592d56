import { offerUntilTaken } from '../../shared/loops/repeated-offer.ts';
import { type Frontier, MAX_OFFER, type Offer, type OfferResult } from '../../shared/ports/frontier/frontier.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { LoopShare } from '../../shared/runtime/loop-share.ts';
import { Turns } from '../../shared/runtime/turns.ts';
import { lastMomentOf } from '../../shared/task/sitemap/lastmod.ts';
import type { SitemapEntry } from '../../shared/task/sitemap/sitemap-entry.ts';
import type { OfferRules } from '../../shared/task/task/offer.ts';
import type { Logins } from '../../shared/task/url/logins.ts';
import { offerOfSeed, type Seeded } from './offer.ts';
import { RecentOffers } from './recent-offers.ts';

export interface OffererOptions {
  readonly frontier: Frontier;
  readonly clock: Clock;
  readonly run: string;
  /** The run's incarnation, once it is open. */
  readonly incarnation: () => string | undefined;
  /** Called for each batch, since the run's own rules are known only when it is open. */
  readonly rules: () => OfferRules;
  /** Called likewise; see {@link OfferOptions.limit}. */
  readonly limit: () => number | undefined;
  /** Maximum offers in progress at once. */
  readonly window: number;
  /** Set in a process that also crawls. If left out, the offerer may keep the loop to itself. */
  readonly loop?: Pick<LoopShare, 'others'> | undefined;
  readonly signal: AbortSignal;
  /** Called when the run refuses an offer. Resolves when the offer can be made again, otherwise rejects with the reason. */
  readonly refused: () => Promise<void>;
  /** Called once, as soon as an offer fails, since no `add` might be waiting that could throw the error; nothing more is offered. */
  readonly failed: () => void;
  /** Called whenever the frontier has accepted something new. */
  readonly accepted: () => void;
}

/** URLs read and offered without a break where pages need the loop too. That takes some milliseconds, for which a page's turns wait. */
const STRETCH = 250;

/** The frontier's answers so far, in URLs. */
interface OfferCounts {
  offered: number;
  accepted: number;
  known: number;
  malformed: number;
}

/**
 * Offers URLs to the frontier in batches, a few of them at once. While no batch is in progress, URLs are sent at once; otherwise they wait
 * until a batch is full. While the store is full, offers wait, and so do calls of {@link add}.
 *
 * In a process that also crawls, one small batch is in progress at a time, and pages get their turns in between.
 */
export class Offerer {
  /** Whether the frontier is told when URLs changed according to their sitemaps. Incremental runs depend on it. */
  tellsChanges = false;
  readonly counts: OfferCounts = { offered: 0, accepted: 0, known: 0, malformed: 0 };
  readonly #options: OffererOptions;
  readonly #recent: RecentOffers;
  /** Callers of {@link add} wait for those before them. */
  readonly #adding = new Turns(1);
  readonly #batchSize: number;
  readonly #window: number;
  /** URLs sent since others last had the loop. */
  #stretch = 0;
  #batch: Offer[] = [];
  #isRepeat = false;
  #underWay = 0;
  #waitingForRoom = 0;
  #isBeyondLimit = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void)[] = [];

  constructor(options: OffererOptions) {
    this.#options = options;
    this.#recent = new RecentOffers(options.clock);
    const { loop, window } = options;
    [this.#batchSize, this.#window] = loop === undefined ? [MAX_OFFER, window] : [STRETCH, 1];
  }

  /** Whether the run has left out URLs because it has reached its limit. It takes no others. */
  get isBeyondLimit(): boolean {
    return this.#isBeyondLimit;
  }

  /** Whether the store is currently full. */
  get isWaiting(): boolean {
    return this.#waitingForRoom > 0;
  }

  /**
   * Takes URLs, and resolves when more can be added. Several calls at once take turns.
   *
   * @param logins credentials of the seed that led to them
   * @param isRepeat whether they were added before, so that known ones are not counted as duplicates
   */
  async add(entries: readonly SitemapEntry[], isRepeat: boolean, logins?: Logins): Promise<void> {
    await this.#adding.run(() => this.#add(entries, isRepeat, logins));
  }

  /** Offers the remaining URLs, and resolves when the frontier has answered everything. */
  async drain(): Promise<void> {
    this.#send();
    await this.#room(1);
  }

  /** Stops sending, and resolves when no offer is in progress. Throws the error of a failed one. */
  async stop(): Promise<void> {
    this.#batch = [];
    while (this.#underWay > 0) await this.#change();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Returns the offers that the frontier has accepted in the last seconds, batch by batch. */
  recent(): readonly (readonly Seeded[])[] {
    return this.#recent.list();
  }

  /** Repeats the {@link recent} offers, for a store that may have lost them. Counts nothing. */
  async repeat(recent: readonly (readonly Seeded[])[]): Promise<void> {
    const rules = this.#options.rules();
    for (const entries of recent) {
      const offers = entries.map((entry) => offerOfSeed(entry, rules));
      await this.#offerUntilTaken(offers, true);
    }
  }

  async #add(entries: readonly SitemapEntry[], isRepeat: boolean, logins?: Logins): Promise<void> {
    if (isRepeat !== this.#isRepeat) {
      this.#send();
      this.#isRepeat = isRepeat;
    }
    const rules = this.#options.rules();
    for (const entry of entries) {
      const seeded = this.tellsChanges ? dated(entry) : entry;
      this.#batch.push(offerOfSeed(logins === undefined ? seeded : { ...seeded, logins }, rules));
      if (this.#batch.length === this.#batchSize) {
        this.#send();
        await this.#turn();
      }
    }
    if (this.#underWay === 0) this.#send();
    await this.#turn();
  }

  #send(): void {
    const batch = this.#batch;
    if (batch.length === 0 || this.#failure !== undefined) return;
    this.#batch = [];
    this.#stretch += batch.length;
    this.#underWay++;
    this.#offer(batch, this.#isRepeat)
      .catch((error: unknown) => {
        if (this.#failure !== undefined) return;
        this.#failure = { error };
        this.#options.failed();
      })
      .finally(() => {
        this.#underWay--;
        for (const wake of this.#wake.splice(0)) wake();
        // The next URL may be long in coming, so the batch is not kept waiting for it.
        if (this.#underWay === 0) this.#send();
      });
  }

  async #offer(batch: readonly Offer[], isRepeat: boolean): Promise<void> {
    const result = await this.#offerUntilTaken(batch, isRepeat);
    if (result === undefined) return;
    this.#recent.keep(batch);
    this.counts.accepted += result.accepted;
    if (result.accepted > 0) this.#options.accepted();
    if (result.leftOut?.limit !== undefined) this.#isBeyondLimit = true;
    if (isRepeat) return;
    this.counts.offered += batch.length;
    this.counts.known += result.known;
    for (const offer of batch) if ('malformed' in offer) this.counts.malformed++;
  }

  /** Offers a batch until it is taken. Resolves with nothing if it was stopped while it waited. */
  #offerUntilTaken(batch: readonly Offer[], repeat: boolean): ReturnType<typeof offerUntilTaken> {
    const { frontier, run, incarnation, limit } = this.#options;
    const onWait = (isWaiting: boolean): void => {
      this.#waitingForRoom += isWaiting ? 1 : -1;
    };
    const offer = (): Promise<OfferResult> =>
      frontier.offer(run, batch, { repeat, incarnation: incarnation(), limit: limit() });
    return offerUntilTaken(offer, { ...this.#options, onWait });
  }

  /** Resolves when more can be sent. */
  async #turn(): Promise<void> {
    await this.#room(this.#window);
    if (this.#stretch < STRETCH) return;
    this.#stretch = 0;
    await this.#options.loop?.others();
  }

  /** Resolves when fewer than `window` offers are in progress. Throws the error of a failed one. */
  async #room(window: number): Promise<void> {
    while (this.#underWay >= window && this.#failure === undefined) {
      await this.#change();
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }
}

function dated(entry: SitemapEntry): Seeded {
  const changedAt = entry.lastmod === undefined ? undefined : lastMomentOf(entry.lastmod);
  return changedAt === undefined ? entry : { ...entry, changedAt };
}
