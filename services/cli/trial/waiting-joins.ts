import type { Crawler } from '../../../shared/crawler/crawler.ts';

/** A join that waits for a page. */
export interface WaitingJoin {
  readonly name: string;
  /** The step whose pages own the join's groups; absent for a join of the run. */
  readonly per?: string;
  /** The join takes the items that the page emits. */
  readonly takes: boolean;
  /** Number of the page's links that it also waits for. */
  readonly links: number;
}

/**
 * Returns the joins that wait for a page, by the plan that a run of its crawler would follow: those of its group, if its step owns one
 * or is below an owner's step, and those of the run that take what the page emits.
 *
 * @param key the key of the page's step
 * @param followed the keys of the steps that its links lead to, one for each link
 */
export function joinsWaiting(crawler: Crawler, key: string, followed: readonly string[]): readonly WaitingJoin[] {
  const { joinPlan: plan, joins } = crawler;
  if (plan === undefined) return [];
  const owner = plan.groups[key] === undefined ? plan.owners[key] : key;
  const inGroup = followed.filter((step) => owner !== undefined && plan.owners[step] === owner).length;
  return joins.flatMap<WaitingJoin>(({ name, per }) => {
    const takes = plan.joins[name]?.of.includes(key) === true;
    if (per === undefined) return takes ? [{ name, takes, links: followed.length }] : [];
    return plan.joins[name]?.per === owner ? [{ name, per, takes, links: inGroup }] : [];
  });
}

/** Describes a waiting join in a line. */
export function waitingText({ name, per, takes, links }: WaitingJoin): string {
  if (per === undefined) return `${name}, of the run: takes what it emits`;
  const also = links === 0 ? '' : ` and ${links} of its links`;
  return `${name}, per ${per}: waits for this page${also}${takes ? ', and takes what it emits' : ''}`;
}
