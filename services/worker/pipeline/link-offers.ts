import type { StepResult } from '../../../shared/crawler/crawler.ts';
import type { Page } from '../../../shared/crawler/page.ts';
import { type Frontier, MAX_OFFER, nameOf } from '../../../shared/ports/frontier.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { TaskOffer } from '../../../shared/task/task/offer.ts';
import type { RoutingRule } from '../../../shared/task/task/routing.ts';
import { domainFinder } from './domains.ts';
import { sortLinks, withinLimits } from './links.ts';
import { SeenLinks } from './seen-links.ts';
import { loginsOf, type Visit } from './visit.ts';

export interface LinkOffersOptions {
  readonly frontier: Pick<Frontier, 'offer'>;
  readonly rules: readonly RoutingRule[];
  readonly log: Logger;
  /** Called when links were taken: some may be due. */
  readonly onOffered?: () => void;
}

/** Warnings remembered as logged, so that each is logged once. */
const MOST_TOLD = 1_000;
/** What is logged when links are left out, by why. */
const LEFT_OUT = {
  limit: 'the run has taken as many URLs as it may (--limit): further links are left out',
  maxPages: 'the run reached its limit of pages (--max-pages): further links are left out',
  scope: 'a domain reached its limit of hosts (--max-hosts-per-domain): links to further ones are left out',
} as const;

/** What became of a page's links. */
export interface LinksOffered {
  /**
   * `stale`: the page's release no longer counts. `full`: the frontier accepts nothing now. `cut`: offered, but the crawler
   * named more links than a page may have.
   */
  readonly how: 'offered' | 'cut' | 'stale' | 'full';
  /** Links that were not offered, each counted once. */
  readonly leftOut?: { readonly depth: number; readonly scope: number };
}

/** Offers the links of a page to the frontier, if its run follows links. */
export class LinkOffers {
  readonly #options: LinkOffersOptions;
  readonly #told = new Set<string>();
  readonly #seen = new SeenLinks();

  constructor(options: LinkOffersOptions) {
    this.#options = options;
  }

  async offer(visit: Visit, page: Page, result: StepResult): Promise<LinksOffered> {
    const { rules } = this.#options;
    const { task, release, run } = visit;
    const { options } = run;
    if (!options.follow || release === 0) return { how: 'offered' };
    const named = result.links === undefined ? { links: page.links(), isCut: false } : withinLimits(result.links);
    const links = named.links.filter((link) => page.mayFollow(link));
    const domainOf = await domainFinder(options.scope ?? 'host');
    const sorted = sortLinks(links, {
      ...{ task, finalUrl: page.url, options, rules, domainOf, logins: loginsOf(visit) },
      loginOf: (link) => page.loginOf(link),
      isNext: (link) => page.isNext(link),
      isSeen: (link) => this.#seen.has(task.run, link),
    });
    const refused = await this.#offerAll(visit, sorted.offers);
    if (refused !== undefined) return { how: refused };
    this.#seen.add(task.run, [task.url, page.url, ...sorted.offers.map(({ url }) => url)]);
    const leftOut = {
      depth: this.#seen.add(task.run, sorted.tooDeep),
      scope: this.#seen.add(task.run, sorted.outOfScope),
    };
    return { how: named.isCut ? 'cut' : 'offered', ...(leftOut.depth + leftOut.scope === 0 ? {} : { leftOut }) };
  }

  async #offerAll(visit: Visit, offers: readonly TaskOffer[]): Promise<'stale' | 'full' | undefined> {
    const { frontier, onOffered } = this.#options;
    const { run, host } = visit.task;
    const { limit, maxPages, maxHostsPerDomain } = visit.run.options;
    const bounds = { parent: nameOf(visit), most: maxPages, mostHosts: maxHostsPerDomain, limit };
    for (let at = 0; at < offers.length; at += MAX_OFFER) {
      const answer = await frontier.offer(run, offers.slice(at, at + MAX_OFFER), bounds);
      if ('accepted' in answer) {
        const { accepted, leftOut = {} } = answer;
        if (accepted > 0) onOffered?.();
        if (leftOut.limit !== undefined) this.#tell(run, { limit }, LEFT_OUT.limit);
        if (leftOut.maxPages !== undefined) this.#tell(run, { maxPages }, LEFT_OUT.maxPages);
        if (leftOut.scope !== undefined) this.#tell(run, { maxHostsPerDomain, host }, LEFT_OUT.scope);
      } else if (answer.refused !== 'run') {
        return answer.refused === 'parent' ? 'stale' : 'full';
      }
    }
    return undefined;
  }

  /** Logs a warning once per run. */
  #tell(run: string, fields: object, what: string): void {
    const told = `${run} ${what}`;
    if (this.#told.has(told)) return;
    if (this.#told.size >= MOST_TOLD) this.#told.clear();
    this.#told.add(told);
    this.#options.log.warn({ run, ...fields }, what);
  }
}
