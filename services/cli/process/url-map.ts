import { runOptionsOf } from '../../../shared/control/run-options.ts';
import { findCrawler } from '../../../shared/crawler/loading/catalogue.ts';
import { Page } from '../../../shared/crawler/page.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { SETTINGS } from '../../../shared/settings/table.ts';
import { timeOf } from '../../../shared/task/sitemap/lastmod.ts';
import { INITIAL_FIELDS } from '../../../shared/task/task/form.ts';
import { type OfferRules, offerOf } from '../../../shared/task/task/offer.ts';
import { isProblem, readListedUrl, readUrl } from '../../../shared/task/url/url.ts';
import { tellLeftOut } from '../../process/left-out-of-sitemaps.ts';
import { routingRulesOf } from '../../process/routing-rules.ts';
import { openSeedReading } from '../../producer/seed-reading.ts';
import type { Seed } from '../../producer/seeds.ts';
import { Steps } from '../../worker/pipeline/steps.ts';
import type { Context } from '../command.ts';
import { type Asking, fetchOnce, sayWait } from '../trial/fetch-once.ts';
import { failureIn, readAround } from '../trial/read-around.ts';
import { stepFacts } from '../trial/trial.ts';
import { trialVisit } from '../trial/trial-visit.ts';

/** A URL of a site. */
export interface MappedUrl {
  readonly url: string;
  /** When it was changed, as its sitemap writes it; null if no sitemap says. */
  readonly lastmod: string | null;
}

interface MapOptions extends Pick<Context, 'settings' | 'log'> {
  /** Maximum number of URLs. Each is remembered, in some hundred bytes. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

type WebSeed = Extract<Seed, { readonly url: string }>;

/**
 * The URLs with which a crawl of some seeds begins, each once: the pages that sitemaps, feeds and lists name, and for a seed that is a site or
 * a page, that page and the links that `--follow` would follow from it. No other page is fetched, and nothing is stored.
 */
export class UrlMap {
  readonly #options: MapOptions;
  readonly #asking: Asking;
  readonly #rules: OfferRules;
  readonly #marks = new Set<string>();
  #malformed = 0;

  private constructor(options: MapOptions, asking: Asking, rules: OfferRules) {
    this.#options = options;
    this.#asking = asking;
    this.#rules = rules;
  }

  static async open(options: MapOptions, asking: Asking): Promise<UrlMap> {
    const { urlKey } = runOptionsOf(options.settings, 'run');
    return new UrlMap(options, asking, { rules: await routingRulesOf(options.settings), urlKey });
  }

  /** Number of URLs found so far. */
  get size(): number {
    return this.#marks.size;
  }

  /** Number of locations that are not URLs. */
  get malformed(): number {
    return this.#malformed;
  }

  get isFull(): boolean {
    return this.size >= this.#options.limit;
  }

  /** Yields the URLs as they are found, up to the limit. What can't be read is logged, and the rest is still read. */
  async *read(seeds: readonly Seed[]): AsyncGenerator<readonly MappedUrl[], void, void> {
    const { settings, log, signal } = this.#options;
    const since = settings.lastmodSince === undefined ? undefined : timeOf(settings.lastmodSince, systemClock.now());
    const { reader, sitemaps } = openSeedReading({
      ...{ clock: systemClock, random: Math.random, input: process.stdin, signal, holder: 'map' },
      ...{ fetcher: this.#asking.fetcher, hostGate: this.#asking.stores.gate },
      // A site's own page is wanted even if it has sitemaps.
      run: { ...runOptionsOf(settings, 'run'), follow: true },
      hostConcurrency: settings.hostConcurrency,
      maxRedirects: settings.maxRedirects,
      obeysRobots: settings.robots === 'obey',
      since,
      isEnough: () => this.isFull,
      hint: (hint) => log.warn({}, hint),
    });
    for (const seed of seeds) {
      const own = 'url' in seed && seed.kind !== 'robots' ? seed : undefined;
      let isPage = false;
      for await (const found of reader().read(seed)) {
        signal.throwIfAborted();
        if (found.kind === 'problem') log.warn({ what: found.source, error: found.problem }, 'could not be read:');
        if (found.kind === 'hint') log.warn({}, found.hint);
        if (found.kind !== 'entries') continue;
        // The page of a seed counts once it has arrived, at the URL to which it redirects.
        const others = own === undefined ? found.entries : found.entries.filter(({ loc }) => loc !== own.url);
        isPage ||= others.length < found.entries.length;
        yield this.#add(others.map(({ loc, lastmod = null }) => ({ url: loc, lastmod })));
        if (this.isFull) return;
      }
      if (!isPage || own === undefined) continue;
      yield this.#add((await this.#pageAndLinks(own)).map((url) => ({ url, lastmod: null })));
      if (this.isFull) return;
    }
    tellLeftOut(sitemaps, since, log);
  }

  /** Returns the URL of a page, after redirects, and those of its links that a crawl would follow; nothing if it can't be fetched. */
  async #pageAndLinks({ url, logins }: WebSeed): Promise<readonly string[]> {
    const { settings, log, signal } = this.#options;
    const address = readUrl(url);
    if (isProblem(address)) return [];
    const loaded = await findCrawler(SETTINGS.crawler.default, settings.crawlersDir);
    const visit = await trialVisit(address, INITIAL_FIELDS, { settings, loaded, args: {}, logins });
    const steps = new Steps({ stepTimeoutMs: settings.stepTimeout, clock: systemClock });
    const { visit: at, ...fetched } = await fetchOnce(visit, steps, this.#options, this.#asking, signal, sayWait);
    const read =
      'ending' in fetched
        ? failureIn(fetched.ending)
        : await readAround(at, new Page(at.task, fetched.arrival.fetched), steps);
    if ('outcome' in read) {
      log.warn({ what: url, error: `${read.reason}: ${read.error}` }, 'could not be read:');
      return [];
    }
    const { follows } = await stepFacts(at, read.page, read.extract, this.#rules.rules);
    return [read.page.url, ...follows.map((link) => link.url)];
  }

  /** Returns those that are new, without credentials. */
  #add(found: readonly MappedUrl[]): readonly MappedUrl[] {
    const taken: MappedUrl[] = [];
    for (const { url: written, lastmod } of found) {
      const url = readListedUrl(written);
      if (isProblem(url)) {
        this.#malformed++;
        continue;
      }
      if (this.isFull) break;
      const { mark } = offerOf(url, this.#rules);
      if (this.#marks.has(mark)) continue;
      this.#marks.add(mark);
      taken.push({ url: url.href, lastmod });
    }
    return taken;
  }
}
