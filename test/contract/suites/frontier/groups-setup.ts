import { expect, onTestFinished } from 'vitest';
import { nameOf, type Offer, type ReleasedTask, type Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import { groupOf } from '../../../../shared/task/group/group.ts';
import type { JoinPlan } from '../../../../shared/task/group/plan.ts';
import { INITIAL_FIELDS } from '../../../../shared/task/task/form.ts';
import { markOf } from '../../../../shared/task/url/fingerprint.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { OPTIONS, ROOM } from './frontier-setup.ts';

/** A product page leads to prices and reviews, which join in an offer, then in a summary. A report joins the whole run. */
export const PLAN: JoinPlan = {
  joins: {
    offer: { per: '', of: ['price', 'reviews'] },
    summary: { per: '', of: ['offer', ''] },
    report: { of: ['offer'] },
  },
  groups: { '': { layers: [['offer'], ['summary']], takes: ['price', 'reviews', ''] } },
  owners: { price: '', reviews: '' },
  run: [['report']],
};
export const OWNER = 'http://a.test/p';
export const GROUP = groupOf(OWNER);
export const DONE: Settlement = { outcome: { kind: 'done' } };

/** Opens stores, each with a run `r` that follows {@link PLAN}. */
export function groupsSetupOf(open: OpenStore) {
  return async (options: Partial<RunOptions> = {}) => {
    const { port, runs, ...store } = await open();
    onTestFinished(() => store.close());
    await runs.open('r', { ...OPTIONS, joins: PLAN, ...options }, 'p');
    /** Releases and admits all tasks that are due. */
    const take = async (): Promise<ReleasedTask[]> => {
      const { tasks } = await port.release(ROOM);
      for (const task of tasks) await port.admit('r', nameOf(task), 'w');
      return [...tasks];
    };
    const one = async (): Promise<ReleasedTask> => {
      const tasks = await take();
      if (tasks.length !== 1 || tasks[0] === undefined) throw new Error(`one is due, got ${tasks.length}`);
      return tasks[0];
    };
    const settle = (task: ReleasedTask, settlement: Settlement = DONE) => port.settle('r', nameOf(task), settlement);
    const follow = (parent: ReleasedTask, children: readonly Offer[], stamp = 'a') =>
      port.offer('r', children, { parent: { ...nameOf(parent), tally: { stamp, links: 0 } } });
    const counts = async () => {
      const progress = await runs.progress('r');
      if (progress === undefined) throw new Error('the run is known');
      const { discovered, waiting, inFlight, done, skipped, failed, cancelled, openGroups, state } = progress;
      expect(waiting + inFlight + done + skipped + failed + cancelled).toBe(discovered);
      return { discovered, waiting, inFlight, done, openGroups, state };
    };
    /** Offers the owner, and releases and admits it. */
    const begun = async () => {
      await port.offer('r', [seed(OWNER)]);
      return await one();
    };
    return { ...store, port, runs, take, one, settle, follow, counts, begun };
  };
}

export function seed(url: string) {
  return { ...INITIAL_FIELDS, url, mark: url, host: 'a.test', step: '', queue: 'normal' } as const;
}

export function member(step: string, group = GROUP, path = step): Extract<Offer, { readonly mark: string }> {
  const url = `http://a.test/${path}`;
  return { ...seed(url), step, mark: markOf(url, step, undefined, group) };
}
