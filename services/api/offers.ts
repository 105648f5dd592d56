import { findCrawler } from '../../shared/crawler/loading/catalogue.ts';
import { isPath } from '../../shared/crawler/loading/crawler-files.ts';
import { MAX_OFFER, type Offer } from '../../shared/ports/frontier/frontier.ts';
import { PRODUCER_LEASE_MS, type RunOptions } from '../../shared/ports/runs.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf, UnavailableError } from '../../shared/runtime/errors.ts';
import type { Service } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { partsOf } from '../../shared/task/parts.ts';
import { routingRulesOf } from '../process/routing-rules.ts';
import { offerOfSeed } from '../producer/offer.ts';
import { KEPT_MS } from '../producer/recent-offers.ts';
import { Problem, unknownRun } from './http/problem.ts';
import type { Link, LinkedStores } from './link.ts';

/** The result of an offer of URLs. */
export interface Offered {
  readonly run: string;
  readonly discovered: number;
  readonly duplicate: number;
  readonly malformed: number;
  /** Whether the run takes no more URLs. Left out unless the offer was the last. */
  readonly sealed?: boolean;
}

/** A run that waits for offers, as the store knows it. */
interface OfferedRun {
  readonly run: string;
  readonly options: RunOptions;
  readonly incarnation: string;
}

/** A change made to such a run. */
type Recent = { readonly offers: readonly Offer[] } | { readonly did: 'open' | 'seal' };
type RecentOffer = OfferedRun & Recent & { readonly at: number };

interface OffersOptions {
  readonly settings: Settings;
  readonly link: Link;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Producer id of runs that wait for offers. Any live API keeps it beating. */
export const OFFERING = 'api-offers';
/** Three beats fit into the lease of a producer. */
const BEAT_EVERY_MS = PRODUCER_LEASE_MS / 4;
/** Maximum number of runs kept open this way. A beat of all of them takes about a second. */
const MOST_KEPT_WAITING = 10_000;
const BEATS_AT_ONCE = 32;
/** URLs remembered of the last seconds. Beyond this, the oldest offers are not repeated. */
const MOST_RECENT = 200_000;

/**
 * Offers URLs to runs that wait for offers. After an outage of the store it repeats the offers of the last seconds: the store may have
 * lost them although their requests were answered.
 */
export class Offers implements Service {
  readonly #options: OffersOptions;
  #recent: RecentOffer[] = [];
  #unwatch: () => void = () => {};
  #awaySince: number | undefined;
  #repeating: Promise<void> = Promise.resolve();
  readonly #stopped = new AbortController();
  #beating: Promise<void> = Promise.resolve();

  constructor(options: OffersOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { link, clock, log } = this.#options;
    const repeat = (): void => {
      const recent = this.#takeRecent();
      this.#repeating = this.#repeating
        .then(() => link.withStores((stores) => this.#repeat(recent, stores)))
        .catch((error: unknown) => log.warn({ error: messageOf(error) }, 'could not repeat offers'));
    };
    this.#unwatch = link.watchStore({
      lost: () => {
        this.#awaySince ??= clock.monotonic();
      },
      restored: repeat,
    });
    this.#beating = this.#beat();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#unwatch();
    await Promise.all([this.#repeating, this.#beating]);
  }

  /** Opens a run that waits for offers. */
  async open(run: string, options: RunOptions, { runs }: LinkedStores): Promise<void> {
    const opened = await runs.open(run, options, OFFERING);
    if (opened.how === 'cancelled' || opened.how === 'lost')
      throw new Problem('wrong_state', `run ${run} is ${opened.how}`);
    if (opened.how === 'created') this.#keep({ ...opened, run, did: 'open' });
  }

  /**
   * Offers URLs to an open run. Malformed ones are counted and become dead letters, like those of a seed list.
   *
   * @param isLast no more will be offered: the run ends once its URLs are crawled, unless it has other producers. Repeating this without
   * URLs changes nothing
   */
  async offer(run: string, urls: readonly string[], isLast = false): Promise<Offered> {
    const { settings, link } = this.#options;
    const rules = await routingRulesOf(settings);
    return await link.withStores(async ({ runs, frontier }) => {
      const progress = await runs.progress(run);
      if (progress === undefined) throw unknownRun(run);
      const { options, sealed, state, incarnation } = progress;
      if (urls.length === 0 && sealed && state !== 'cancelled')
        return { run, discovered: 0, duplicate: 0, malformed: 0, sealed };
      if (sealed || state === 'cancelled' || state === 'finished')
        throw new Problem(
          'wrong_state',
          `run ${run} is ${sealed && state === 'running' ? 'sealed' : state}: it takes no more URLs`,
        );
      await runs.beat(run, OFFERING);
      const startOf = await this.#startOf(options.crawler);
      const offers = urls.map((loc) => offerOfSeed({ loc }, { rules, urlKey: options.urlKey, startOf }));
      let [discovered, duplicate] = [0, 0];
      for (const some of chunksOf(offers)) {
        const result = await frontier.offer(run, some, { incarnation, limit: options.limit });
        if ('refused' in result) {
          if (result.refused === 'full') throw new UnavailableError('the store is full');
          throw new Problem('wrong_state', `run ${run} no longer takes URLs`);
        }
        discovered += result.accepted;
        duplicate += result.known;
        this.#keep({ run, options, incarnation, offers: some });
      }
      const malformed = offers.filter((offer) => 'malformed' in offer).length;
      if (!isLast) return { run, discovered, duplicate, malformed };
      await runs.seal(run, OFFERING, incarnation);
      this.#keep({ run, options, incarnation, did: 'seal' });
      return { run, discovered, duplicate, malformed, sealed: (await runs.progress(run))?.sealed ?? true };
    });
  }

  /**
   * Returns a function that names the step a URL starts at, or nothing if the crawler isn't installed here. Crawlers named by a path are
   * never loaded: anyone who can write to the store could choose the code that runs here.
   */
  async #startOf(name: string): Promise<((href: string) => string) | undefined> {
    if (isPath(name)) return undefined;
    const found = await findCrawler(name, this.#options.settings.crawlersDir).catch(() => undefined);
    return found === undefined ? undefined : (href) => found.crawler.startOf(href);
  }

  /** Beats for every run that waits for offers, including those that an earlier process opened. */
  async #beat(): Promise<void> {
    const { link, clock } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      // A failed beat costs nothing: the lease outlasts three of them.
      await link
        .withStores(async ({ runs }) => {
          const open = await runs.listOpen(MOST_KEPT_WAITING);
          for (const some of partsOf(open, BEATS_AT_ONCE))
            await Promise.all(some.map((run) => runs.beat(run, OFFERING)));
        })
        .catch(() => {});
      await clock.sleep(BEAT_EVERY_MS, signal);
    }
  }

  #keep(offered: OfferedRun & Recent): void {
    const at = this.#options.clock.monotonic();
    this.#recent = [...this.#recent.filter((each) => each.at >= at - KEPT_MS), { ...offered, at }];
    let urls = this.#recent.reduce((sum, each) => sum + urlsOf(each), 0);
    for (let first = this.#recent[0]; urls > MOST_RECENT && first !== undefined; first = this.#recent[0]) {
      urls -= urlsOf(first);
      this.#recent.shift();
    }
  }

  /** Returns the changes confirmed since a few seconds before the store went away. */
  #takeRecent(): readonly RecentOffer[] {
    const { clock } = this.#options;
    const from = (this.#awaySince ?? clock.monotonic()) - KEPT_MS;
    this.#awaySince = undefined;
    return this.#recent.filter(({ at }) => at >= from);
  }

  async #repeat(recent: readonly RecentOffer[], { runs, frontier }: LinkedStores): Promise<void> {
    const created = new Set(recent.flatMap((each) => ('did' in each && each.did === 'open' ? [each.run] : [])));
    for (const each of recent) {
      const { run, options, incarnation } = each;
      // A run that the store still knows is left as it is: it may be sealed.
      if (created.has(run) && (await runs.standing(run)) === undefined)
        await runs.open(run, options, OFFERING, { incarnation, mayRestore: true });
      if ('offers' in each) await frontier.offer(run, each.offers, { incarnation, limit: options.limit, repeat: true });
      else if (each.did === 'seal') await runs.seal(run, OFFERING, incarnation);
    }
  }
}

function urlsOf(recent: Recent): number {
  return 'offers' in recent ? recent.offers.length : 0;
}

function chunksOf(offers: readonly Offer[]): readonly (readonly Offer[])[] {
  return Array.from({ length: Math.ceil(offers.length / MAX_OFFER) }, (_, n) =>
    offers.slice(n * MAX_OFFER, (n + 1) * MAX_OFFER),
  );
}
