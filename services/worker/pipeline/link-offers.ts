import type { StepResult } from '../../../shared/crawler/crawler.ts';
import type { Page } from '../../../shared/crawler/page.ts';
import { type Frontier, MAX_OFFER, nameOf } from '../../../shared/ports/frontier.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { RoutingRule } from '../../../shared/task/task/routing.ts';
import { domainFinder } from './domains.ts';
import { linksToFollow, withinLimits } from './links.ts';
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
const MANY_HOSTS = 'a domain reached its limit of hosts (--max-hosts-per-domain): links to further ones are left out';

/** Offers the links of a page to the frontier, if its run follows links. */
export class LinkOffers {
  readonly #options: LinkOffersOptions;
  readonly #told = new Set<string>();

  constructor(options: LinkOffersOptions) {
    this.#options = options;
  }

  /**
   * `stale`: the page's release no longer counts. `full`: the frontier accepts nothing now. `cut`: offered, but the crawler
   * named more links than a page may have.
   */
  async offer(visit: Visit, page: Page, result: StepResult): Promise<'offered' | 'cut' | 'stale' | 'full'> {
    const { frontier, rules, onOffered } = this.#options;
    const { task, release, run } = visit;
    const { options } = run;
    if (!options.follow || release === 0) return 'offered';
    const named = result.links === undefined ? { links: page.links, isCut: false } : withinLimits(result.links);
    const links = named.links.filter((link) => page.mayFollow(link));
    const domainOf = await domainFinder(options.scope ?? 'host');
    const offers = linksToFollow(links, {
      ...{ task, finalUrl: page.url, options, rules, domainOf, logins: loginsOf(visit) },
      loginOf: (link) => page.loginOf(link),
    });
    const { maxPages: most, maxHostsPerDomain: mostHosts } = options;
    const limit = { ...(most === undefined ? {} : { most }), ...(mostHosts === undefined ? {} : { mostHosts }) };
    for (let at = 0; at < offers.length; at += MAX_OFFER) {
      const answer = await frontier.offer(task.run, offers.slice(at, at + MAX_OFFER), {
        parent: nameOf(visit),
        ...limit,
      });
      if ('accepted' in answer) {
        if (answer.accepted > 0) onOffered?.();
        if (answer.beyond !== undefined) {
          this.#tell(
            task.run,
            { maxPages: most },
            'the run reached its limit of pages (--max-pages): further links are left out',
          );
        }
        if (answer.leftOut !== undefined)
          this.#tell(task.run, { maxHostsPerDomain: mostHosts, host: task.host }, MANY_HOSTS);
        continue;
      }
      if (answer.refused === 'run') continue;
      return answer.refused === 'parent' ? 'stale' : 'full';
    }
    return named.isCut ? 'cut' : 'offered';
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
