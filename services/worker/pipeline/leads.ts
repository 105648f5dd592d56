import type { Step } from '../../../shared/crawler/crawler.ts';
import type { Page } from '../../../shared/crawler/page.ts';
import type { Extract } from '../../../shared/crawler/reading.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import type { AboutOffer } from '../../../shared/task/task/offer.ts';
import { domainFinder } from './domains.ts';
import { type FollowOptions, LinkBudget, plainDepth, type SortedLinks, sortLinks } from './links.ts';
import { loginsOf, type Visit } from './visit.ts';

/** Links of a page that are offered in the same way. */
export interface Lead {
  readonly links: readonly string[];
  /** The run's, or those that a step has in their place. */
  readonly options: RunOptions;
  readonly depthOf: (link: string) => number;
  readonly about?: Pick<AboutOffer, 'step' | 'kept' | 'request' | 'queue' | 'deadlineMs'>;
}

/** How often the steps of a crawler may go round in a circle, if nobody has set the depth. */
const MOST_ROUNDS = 1_000;

/**
 * The links of a page that are to be followed: those that its step follows, and if the run follows links, all others, or what a
 * short crawler names. What a crawler names is cut to the limits of a page. `isCut`: some were left out.
 */
export function leadsOf(
  visit: Visit,
  page: Page,
  { follows, links, by }: Extract,
): { readonly leads: readonly Lead[]; readonly isCut: boolean } {
  const { options } = visit.run;
  const budget = new LinkBudget();
  const leads: Lead[] = follows.map(({ step, links: named, kept, request }) => ({
    links: budget.take(named),
    options: optionsAt(step, options),
    depthOf: () => depthAt(by, step, visit),
    about: {
      step: step.key,
      ...(kept === undefined ? {} : { kept }),
      ...(request === undefined ? {} : { request }),
      ...(step.priority === true ? { queue: 'priority' as const } : {}),
      ...(step.deadlineMs === undefined ? {} : { deadlineMs: step.deadlineMs }),
    },
  }));
  if (options.follow) {
    const all = links === undefined ? page.links() : budget.take(links);
    leads.push({
      links: all.filter((link) => page.mayFollow(link)),
      options,
      depthOf: plainDepth(visit.task, options, (link) => page.isNext(link)),
    });
  }
  return { leads, isCut: budget.isCut };
}

/** Sorts the links of a lead by what becomes of them. */
export async function sortLead(
  { links, ...lead }: Lead,
  visit: Visit,
  page: Page,
  { rules, isSeen }: Pick<FollowOptions, 'rules' | 'isSeen'>,
): Promise<SortedLinks> {
  const { task, run } = visit;
  return sortLinks(links, {
    ...{ task, finalUrl: page.url, rules, logins: loginsOf(visit), ...lead },
    domainOf: await domainFinder(lead.options.scope ?? 'host'),
    startOf: (href) => run.crawler.startOf(href),
    loginOf: (link) => page.loginOf(link),
    ...(isSeen === undefined ? {} : { isSeen }),
  });
}

/** What holds for links to a step: its own rules, and else the run's. */
function optionsAt(step: Step, options: RunOptions): RunOptions {
  const { scope = options.scope, include = options.include, exclude = options.exclude } = step;
  const maxDepth = options.hasDefaultDepth === true ? MOST_ROUNDS : options.maxDepth;
  return {
    ...options,
    maxDepth,
    ...(scope === undefined ? {} : { scope }),
    ...(include === undefined ? {} : { include }),
    ...(exclude === undefined ? {} : { exclude }),
  };
}

function depthAt(from: Step | undefined, step: Step, { task, run }: Visit): number {
  return task.depth + (from !== undefined && run.crawler.graph.isLoop(from.name, step.name) ? 1 : 0);
}
