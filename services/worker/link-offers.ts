import type { StepResult } from '../../shared/crawler/crawler.ts';
import type { Page } from '../../shared/crawler/page.ts';
import { type Frontier, MAX_OFFER } from '../../shared/frontier.ts';
import type { Logger } from '../../shared/logger.ts';
import type { RoutingRule } from '../../shared/task/routing.ts';
import { domainFinder } from './domains.ts';
import { linksToFollow } from './links.ts';
import type { Visit } from './visit.ts';

export interface LinkOffersOptions {
  readonly frontier: Pick<Frontier, 'offer'>;
  readonly rules: readonly RoutingRule[];
  readonly log: Logger;
  /** Links were taken: something may be due. */
  readonly onOffered?: () => void;
}

/** Runs that are remembered to have been told of. */
const MOST_TOLD = 1_000;

/** Offers the links of pages, if their runs follow links. */
export class LinkOffers {
  readonly #options: LinkOffersOptions;
  readonly #toldFull = new Set<string>();

  constructor(options: LinkOffersOptions) {
    this.#options = options;
  }

  /** `stale`: the page's release is. `full`: the frontier takes nothing now. */
  async offer(visit: Visit, page: Page, result: StepResult): Promise<'offered' | 'stale' | 'full'> {
    const { frontier, rules, onOffered } = this.#options;
    const { task, release, run } = visit;
    const { options } = run;
    if (!options.follow || release === 0) return 'offered';
    const links = (result.links ?? page.links).filter((link) => page.mayFollow(link));
    const domainOf = await domainFinder(options.scope ?? 'host');
    const offers = linksToFollow(links, { task, finalUrl: page.url, options, rules, domainOf });
    const limit = options.maxPages === undefined ? {} : { most: options.maxPages };
    for (let at = 0; at < offers.length; at += MAX_OFFER) {
      const answer = await frontier.offer(task.run, offers.slice(at, at + MAX_OFFER), { parent: release, ...limit });
      if ('accepted' in answer) {
        if (answer.accepted > 0) onOffered?.();
        if (answer.beyond !== undefined) this.#tellFull(task.run, options.maxPages);
        continue;
      }
      if (answer.refused === 'run') continue;
      return answer.refused === 'parent' ? 'stale' : 'full';
    }
    return 'offered';
  }

  /** Once for each run. */
  #tellFull(run: string, maxPages: number | undefined): void {
    if (this.#toldFull.has(run)) return;
    if (this.#toldFull.size >= MOST_TOLD) this.#toldFull.clear();
    this.#toldFull.add(run);
    this.#options.log.warn({ run, maxPages }, 'the run has all its pages (--max-pages): further links are left out');
  }
}
