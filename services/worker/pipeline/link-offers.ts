import { randomBytes } from 'node:crypto';
import type { Extract } from '../../../shared/crawler/document/reading.ts';
import { leadsOf, sortLead } from '../../../shared/crawler/leads/leads.ts';
import type { Page } from '../../../shared/crawler/page.ts';
import {
  type Frontier,
  type LinkTally,
  MAX_OFFER,
  nameOf,
  type Settlement,
} from '../../../shared/ports/frontier/frontier.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { planFor } from '../../../shared/task/group/plan.ts';
import type { TaskOffer } from '../../../shared/task/task/offer.ts';
import { digestOf, type TaskRequest } from '../../../shared/task/task/request.ts';
import type { RoutingRule } from '../../../shared/task/task/routing.ts';
import { isSeed } from '../../../shared/task/url/scope.ts';
import { SeenLinks } from './seen-links.ts';
import { loginsOf, type Visit } from './visit.ts';

export interface LinkOffersOptions {
  readonly frontier: Pick<Frontier, 'offer'>;
  readonly rules: readonly RoutingRule[];
  readonly log: Logger;
  /** Called when links were accepted, since some may be due. */
  readonly onOffered?: () => void;
}

/** Warnings remembered as logged, so that each is logged once. */
const MOST_TOLD = 1_000;
/** Bytes that a store needs for a link besides its text. */
const STORED_BYTES = 100;
/** Log messages for links that are left out, by reason. */
const LEFT_OUT = {
  cut: 'a step names more links of a page than can be followed (10 000, 1 MiB in all, 8 192 characters each): the rest are left out',
  limit: 'the run has taken as many URLs as it may (--limit): further links are left out',
  maxPages: 'the run reached its limit of pages (--max-pages): further links are left out',
  nofollow: 'a seed asks that its links not be followed (nofollow), and none is',
  scope: 'a domain reached its limit of hosts (--max-hosts-per-domain): links to further ones are left out',
} as const;

/** The result of offering a page's links. */
export type LinksOffered =
  | {
      /** `stale`: the page's release no longer counts. `cut`: links were offered, but the crawler named more than a page may have. */
      readonly how: 'offered' | 'cut' | 'stale';
      /** Number of links that were not offered, by reason; each is counted once. */
      readonly leftOut?: Settlement['leftOut'];
      /** The tally of the links that were offered, for the settlement; nothing if there were none. */
      readonly tally?: LinkTally;
    }
  | {
      /** The frontier is full for now. */
      readonly how: 'full';
      readonly refused: LinksRefused;
    };

type LinksRefused = NonNullable<Settlement['refused']>;

/** Offers the links of a page to the frontier: those that its step follows, and all of them if its run follows links. */
export class LinkOffers {
  readonly #options: LinkOffersOptions;
  readonly #told = new Set<string>();
  readonly #seen = new SeenLinks();

  constructor(options: LinkOffersOptions) {
    this.#options = options;
  }

  async offer(visit: Visit, page: Page, extract: Extract): Promise<LinksOffered> {
    const { task, release } = visit;
    if (release === 0) return { how: 'offered' };
    const source = { ...visit, logins: loginsOf(visit) };
    const { leads, isCut } = leadsOf(source, page, extract);
    if (isCut) this.#tell(task.run, { what: page.url }, LEFT_OUT.cut);
    if (leads.length + extract.unmet.length === 0) return { how: isCut ? 'cut' : 'offered' };
    const isForbidden =
      leads.length > 0 && leads.every(({ links, nofollow = [] }) => links.length === 0 && nofollow.length > 0);
    if (isForbidden && isSeed(task)) this.#tell(task.run, { what: page.url }, LEFT_OUT.nofollow);
    const { rules } = this.#options;
    const sorted = await Promise.all(
      leads.map(async (lead) => {
        const asMet = (link: string): string => metAs(link, lead.about?.request);
        const isSeen = (link: string): boolean => this.#seen.has(task.run, asMet(link));
        const links = await sortLead(lead, source, page, { rules, isSeen });
        return { ...links, tooDeep: links.tooDeep.map(asMet), outOfScope: links.outOfScope.map(asMet) };
      }),
    );
    const offers = sorted.flatMap((each) => each.offers);
    const tally = await this.#offerAll(visit, offers);
    if (tally === 'stale') return { how: 'stale' };
    if ('bytes' in tally) return { how: 'full', refused: tally };
    this.#seen.add(task.run, [task.url, page.url, ...offers.map(({ url, request }) => metAs(url, request))]);
    const leftOut = {
      depth: this.#seen.add(
        task.run,
        sorted.flatMap(({ tooDeep }) => tooDeep),
      ),
      scope: this.#seen.add(
        task.run,
        sorted.flatMap(({ outOfScope }) => outOfScope),
      ),
      condition: extract.unmet.reduce((sum, { links }) => sum + links.length, 0),
    };
    const isAnyLeftOut = leftOut.depth + leftOut.scope + leftOut.condition > 0;
    return {
      how: isCut ? 'cut' : 'offered',
      ...(tally.links === 0 ? {} : { tally }),
      ...(isAnyLeftOut ? { leftOut } : {}),
    };
  }

  async #offerAll(visit: Visit, offers: readonly TaskOffer[]): Promise<LinkTally | 'stale' | LinksRefused> {
    const { frontier, onOffered } = this.#options;
    const { run, host } = visit.task;
    const { limit, maxPages, maxHostsPerDomain, joins } = visit.run.options;
    const leavesRoom = joins !== undefined && planFor(joins, visit.task) === undefined;
    const bounds = { most: maxPages, mostHosts: maxHostsPerDomain, limit, ...(leavesRoom ? { leavesRoom } : {}) };
    let tally: LinkTally = { stamp: newStamp(), links: 0 };
    for (let at = 0; at < offers.length; at += MAX_OFFER) {
      const some = offers.slice(at, at + MAX_OFFER);
      const answer = await frontier.offer(run, some, { ...bounds, parent: { ...nameOf(visit), tally } });
      if ('accepted' in answer) {
        tally = { ...tally, links: tally.links + some.length };
        const { accepted, leftOut = {} } = answer;
        if (accepted > 0) onOffered?.();
        if (leftOut.limit !== undefined) this.#tell(run, { limit }, LEFT_OUT.limit);
        if (leftOut.maxPages !== undefined) this.#tell(run, { maxPages }, LEFT_OUT.maxPages);
        if (leftOut.scope !== undefined) this.#tell(run, { maxHostsPerDomain, host }, LEFT_OUT.scope);
      } else if (answer.refused !== 'run') {
        return answer.refused === 'parent' ? 'stale' : { bytes: bytesOf(offers.slice(at)), leavesRoom };
      }
    }
    return tally;
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

/** Returns a stamp for one admission. 48 random bits suffice, since it only distinguishes the few admissions of one release. */
function newStamp(): string {
  return randomBytes(6).toString('base64url');
}

/** Returns roughly how many bytes the store needs for the offers. */
function bytesOf(offers: readonly TaskOffer[]): number {
  return offers.reduce((sum, offer) => sum + Buffer.byteLength(JSON.stringify(offer)) + STORED_BYTES, 0);
}

/** Returns the key under which a link is remembered. The pages of a list can share one URL and differ in their requests. */
function metAs(link: string, request: TaskRequest | undefined): string {
  const digest = digestOf(request);
  return digest === undefined ? link : `${digest} ${link}`;
}
