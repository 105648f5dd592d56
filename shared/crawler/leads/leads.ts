import { MOST_ROUNDS, type RunOptions } from '../../ports/runs.ts';
import { groupOfChild } from '../../task/group/plan.ts';
import type { AboutOffer } from '../../task/task/offer.ts';
import type { Task } from '../../task/task/task.ts';
import type { Logins } from '../../task/url/logins.ts';
import type { Crawler, Step } from '../crawler.ts';
import type { Extract } from '../document/reading.ts';
import { FILE_STEP } from '../file-step.ts';
import type { Page } from '../page.ts';
import { domainFinder } from './domains.ts';
import { type FollowOptions, LinkBudget, plainDepth, type SortedLinks, sortLinks } from './links.ts';

/** The task whose page has the links, in its run. */
export interface LinkSource {
  readonly task: Task;
  /** The credentials known for the origins that the task has visited. */
  readonly logins: Logins | undefined;
  readonly run: { readonly crawler: Crawler; readonly options: RunOptions };
}

/** Links of a page that are offered under the same rules. */
export interface Lead {
  readonly links: readonly string[];
  /** Links that the page asks not to follow; missing if there are none. */
  readonly nofollow?: readonly string[];
  /** The run's options, with those that a step overrides. */
  readonly options: RunOptions;
  readonly depthOf: (link: string) => number;
  readonly about?: Pick<AboutOffer, 'group' | 'replayed' | 'step' | 'kept' | 'request' | 'queue' | 'deadlineMs'>;
}

/**
 * Returns the links of a page to follow: those that its step follows and, if the run follows links, all links of the page, or those that a
 * short crawler returns. A crawler's links are cut to the limits of a page. `isCut`: some were left out.
 *
 * In a group that a replay crawls again, only links to its members are followed: all others were followed the first time.
 */
export function leadsOf(
  source: LinkSource,
  page: Page,
  { follows, links, by }: Extract,
): { readonly leads: readonly Lead[]; readonly isCut: boolean } {
  const { options } = source.run;
  const isReplayed = source.task.replayed !== undefined;
  const budget = new LinkBudget();
  const grouped = follows
    .map((each) => ({ ...each, group: groupOfChild(options.joins, source.task, each.step.key) }))
    .filter(({ group }) => group !== undefined || !isReplayed);
  const leads: Lead[] = grouped.map(({ step, links: named, kept, request, group }) => ({
    links: budget.take(named),
    options: optionsAt(step, options),
    depthOf: () => depthAt(by, step, source),
    about: {
      step: step.key,
      group,
      ...(isReplayed ? { replayed: {} } : {}),
      ...(kept === undefined ? {} : { kept }),
      ...(request === undefined ? {} : { request }),
      ...(step.priority === true ? { queue: 'priority' as const } : {}),
      ...(step.deadlineMs === undefined ? {} : { deadlineMs: Math.ceil(step.deadlineMs) }),
    },
  }));
  if (options.follow && !isReplayed) {
    const all = links === undefined ? linksIn(page) : budget.take(links);
    const nofollow = all.filter((link) => !page.mayFollow(link));
    leads.push({
      links: nofollow.length === 0 ? all : all.filter((link) => page.mayFollow(link)),
      ...(nofollow.length === 0 ? {} : { nofollow }),
      options,
      depthOf: plainDepth(source.task, options, (link) => page.isNext(link)),
    });
  }
  return { leads, isCut: budget.isCut };
}

/** Returns the links that `--follow` follows: the page's refresh, the next pages of its lists (some only in the head), its frames, its links. */
export function linksIn(page: Page): readonly string[] {
  const { refresh, nextPages, frames } = page;
  const links = page.links();
  const others = [...(refresh === undefined ? [] : [refresh]), ...nextPages, ...frames];
  const more = new Set(others.filter((link) => !links.includes(link)));
  return more.size === 0 ? links : [...more, ...links];
}

/** Sorts the links of a lead into those to offer, those too deep and those out of scope. */
export async function sortLead(
  { links, ...lead }: Lead,
  source: LinkSource,
  page: Page,
  { rules, isSeen }: Pick<FollowOptions, 'rules' | 'isSeen'>,
): Promise<SortedLinks> {
  const { task, run, logins } = source;
  return sortLinks(links, {
    ...{ task, finalUrl: page.url, rules, logins, ...lead },
    domainOf: await domainFinder(lead.options.scope ?? 'host'),
    startOf: (href) => run.crawler.startOf(href),
    loginOf: (link) => page.loginOf(link),
    ...(isSeen === undefined ? {} : { isSeen }),
  });
}

/** Returns the options for links to a step: its own rules, otherwise the run's. A file can be anywhere, unless the run excludes it. */
function optionsAt(step: Step, options: RunOptions): RunOptions {
  const included = step === FILE_STEP ? [] : options.include;
  const { scope = options.scope, include = included, exclude = options.exclude } = step;
  const maxDepth = options.hasDefaultDepth === true ? MOST_ROUNDS : options.maxDepth;
  return {
    ...options,
    maxDepth,
    ...(scope === undefined ? {} : { scope }),
    ...(include === undefined ? {} : { include }),
    ...(exclude === undefined ? {} : { exclude }),
  };
}

function depthAt(from: Step | undefined, step: Step, { task, run }: LinkSource): number {
  return task.depth + (from !== undefined && run.crawler.graph.isLoop(from.name, step.name) ? 1 : 0);
}
