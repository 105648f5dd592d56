import { conditionText } from '../../../shared/crawler/condition.ts';
import type { Extract } from '../../../shared/crawler/document/reading.ts';
import { FILE_STEP } from '../../../shared/crawler/file-step.ts';
import { itemsIn } from '../../../shared/crawler/items/record-items.ts';
import { leadsOf, sortLead } from '../../../shared/crawler/leads/leads.ts';
import type { Page } from '../../../shared/crawler/page.ts';
import { shownRequest, type TaskRequest } from '../../../shared/task/task/request.ts';
import type { RoutingRule } from '../../../shared/task/task/routing.ts';
import { isProblem, readUrl } from '../../../shared/task/url/url.ts';
import { loginsOf, type Visit } from '../../worker/pipeline/visit.ts';
import { joinsWaiting, type WaitingJoin } from './waiting-joins.ts';

/** Facts about a page that need no crawler. */
export interface PageFacts {
  readonly url: string;
  /** The URLs of its redirects, in order. */
  readonly redirects: readonly string[];
  readonly status: number;
  readonly contentType: string | null;
  readonly bytes: number;
  readonly title: string | null;
  readonly canonical: string | null;
  /** Number of links. */
  readonly links: number;
  /** The article that `--content article` would keep; null if the page has none. */
  readonly article: { readonly title: string | null; readonly characters: number } | null;
}

/** A link that a crawl would follow. */
export interface TrialLink {
  /** Absent for a crawler of one function. */
  readonly step?: string;
  readonly url: string;
  /** The request, if it is not a plain GET, without the values of credentials. */
  readonly request?: TaskRequest;
  readonly kept?: Readonly<Record<string, unknown>>;
}

/** A link that a crawl would leave out. */
interface LeftOutLink extends TrialLink {
  /** `url` means a link that can't be fetched, such as `mailto:`. */
  readonly reason: 'scope' | 'depth' | 'condition' | 'nofollow' | 'url';
  /** The condition, if it can be printed. */
  readonly condition?: string;
}

/** What a crawler makes of a page. */
export interface StepFacts {
  readonly crawler: string;
  /** Absent for a crawler of one function. */
  readonly step?: string;
  readonly items: readonly unknown[];
  readonly follows: readonly TrialLink[];
  readonly leftOut: readonly LeftOutLink[];
  /** The step names more links than a page may have. The last ones are left out. */
  readonly isCut: boolean;
  /** The joins that would wait for the page. Absent if its crawler has none. */
  readonly joins?: readonly WaitingJoin[];
}

export function pageFacts(url: string, page: Page, redirects: readonly string[]): PageFacts {
  const { article } = page;
  return {
    url,
    redirects,
    status: page.status,
    contentType: page.contentType ?? null,
    bytes: page.body.byteLength,
    title: page.title ?? null,
    canonical: page.canonical ?? null,
    links: page.links().length,
    article: article === undefined ? null : { title: article.title ?? null, characters: article.text.length },
  };
}

/** Returns what a crawl would store of a page, and which links it would follow. */
export async function stepFacts(
  visit: Visit,
  page: Page,
  extract: Extract,
  rules: readonly RoutingRule[],
): Promise<StepFacts> {
  const { crawler } = visit.run;
  const nameOf = (key: string): { readonly step?: string } => {
    const name = crawler.step(key)?.name;
    return name === undefined ? {} : { step: name };
  };
  const source = { ...visit, logins: loginsOf(visit) };
  const { leads, isCut } = leadsOf(source, page, extract);
  const follows: TrialLink[] = [];
  const followed: string[] = [];
  const leftOut: LeftOutLink[] = extract.unmet.flatMap(({ step, links, kept, request }) => {
    const condition = step.when === undefined ? {} : { condition: conditionText(step.when) };
    const about = { reason: 'condition' as const, ...condition, ...(kept === undefined ? {} : { kept }) };
    return links.map((url) => ({ step: step.name, url, ...asShown(request), ...about }));
  });
  for (const lead of leads) {
    const { offers, tooDeep, outOfScope } = await sortLead(lead, source, page, { rules });
    const { step: to, kept: keeps, request } = lead.about ?? {};
    const about = {
      ...asShown(request),
      ...(keeps === undefined || to === FILE_STEP.key ? {} : { kept: keeps }),
    };
    followed.push(...offers.map(({ step }) => step));
    follows.push(...offers.map(({ url, step }) => ({ ...nameOf(step), url, ...about })));
    const keyOf = (url: string): string => lead.about?.step ?? crawler.startOf(url);
    for (const [reason, urls] of [
      ['depth', tooDeep],
      ['scope', outOfScope],
      ['nofollow', lead.nofollow ?? []],
      ['url', lead.links.filter((link) => isProblem(readUrl(link)))],
    ] as const)
      leftOut.push(...urls.map((url) => ({ ...nameOf(keyOf(url)), url, reason, ...about })));
  }
  const joins = crawler.joins.length === 0 ? {} : { joins: joinsWaiting(crawler, visit.task.step, followed) };
  return {
    crawler: crawler.name,
    ...nameOf(visit.task.step),
    items: itemsIn(extract),
    follows,
    leftOut,
    isCut,
    ...joins,
  };
}

function asShown(request: TaskRequest | undefined): Pick<TrialLink, 'request'> {
  return request === undefined ? {} : { request: shownRequest(request) };
}
