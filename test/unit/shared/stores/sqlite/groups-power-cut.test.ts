import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { nameOf, type ReleasedTask, type Settlement } from '../../../../../shared/ports/frontier/frontier.ts';
import { beginRun, reopenRun } from '../../../../../shared/stores/sqlite/local-runs.ts';
import { groupOf } from '../../../../../shared/task/group/group.ts';
import type { JoinPlan } from '../../../../../shared/task/group/plan.ts';
import { INITIAL_FIELDS } from '../../../../../shared/task/task/form.ts';
import { markOf } from '../../../../../shared/task/url/fingerprint.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { EVERYTHING, offerOf } from '../../../../support/stores/embedded.ts';
import { crashedFolder, newFolder } from '../../../../support/stores/kept-store.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

const PLAN: JoinPlan = {
  joins: { offer: { per: '', of: ['price'] }, report: { of: ['offer'] } },
  groups: { '': { layers: [['offer']], takes: ['price'] } },
  owners: { price: '' },
  run: [['report']],
};
const OPTIONS = { ...FAST_RUN, dedup: 'run', joins: PLAN } as const;
const OWNER = 'http://a.test/p';
const DONE: Settlement = { outcome: { kind: 'done' } };

async function opened(folder: string, clock: SteppedClock, isNew: boolean) {
  const ports = openLocalParts({ clock, path: join(folder, 'trawl.sqlite') });
  const parts = { store: ports.store, folder, syncRecords: async () => {} };
  const beginning = { crawler: 'x', run: 'r', options: OPTIONS, seeds: [], flags: {} };
  // The machine has been restarted since.
  if (!isNew) await ports.store.move(({ database }) => database.run("UPDATE crawls SET boot = 'another'"));
  const owned = isNew ? await beginRun(beginning, parts) : await reopenRun('r', parts);
  onTestFinished(async () => {
    await owned.close();
    ports.database.close();
    await rm(folder, { recursive: true, force: true });
  });
  const take = async (): Promise<ReleasedTask> => {
    const [task] = (await ports.frontier.release(EVERYTHING)).tasks;
    if (task === undefined) throw new Error('one is due');
    return task;
  };
  const settle = (task: ReleasedTask, more: Partial<Settlement> = {}) =>
    ports.frontier.settle('r', nameOf(task), { ...DONE, ...more });
  return { ...ports, owned, take, settle };
}

/** A group of two, up to its join. `synced`: how much is on the disk before the power goes. */
async function cutAfter(steps: 'member' | 'join' | 'report', synced: 'nothing' | 'members') {
  const [folder, clock] = [await newFolder(), new SteppedClock()];
  const { frontier, runs, owned, take, settle } = await opened(folder, clock, true);
  await runs.open('r', OPTIONS, 'p');
  await frontier.offer('r', [offerOf(OWNER)]);
  await runs.seal('r');
  const owner = await take();
  const url = 'http://a.test/price';
  const mark = markOf(url, 'price', undefined, groupOf(OWNER));
  const parent = { ...nameOf(owner), tally: { stamp: 'a', links: 0 } };
  await frontier.offer('r', [{ ...INITIAL_FIELDS, url, mark, step: 'price', host: 'a.test', queue: 'normal' }], {
    parent,
  });
  await settle(owner, { tally: { stamp: 'a', links: 1 } });
  await settle(await take(), { input: 'cheap' });
  if (synced === 'members') await owned.sync();
  if (steps !== 'member') await settle(await take());
  if (steps === 'report') await settle(await take());
  return await opened(await crashedFolder(folder), clock, false);
}

test.each(['member', 'join', 'report'] as const)(
  'after a power cut, a group whose records are gone ends once more, and its join is made of it: after the %s',
  async (steps) => {
    const { runs, frontier, take, settle } = await cutAfter(steps, 'nothing');
    expect(await runs.progress('r')).toMatchObject({
      discovered: 2,
      waiting: 2,
      done: 0,
      openGroups: 1,
      state: 'running',
    });
    const tasks = (await frontier.release(EVERYTHING)).tasks;
    expect(tasks.map(({ task }) => task.step).toSorted()).toEqual(['', 'price']);
    for (const each of tasks) await settle(each, { input: `anew ${each.task.step}` });
    const offer = await take();
    expect(await frontier.inputs('r', nameOf(offer))).toMatchObject({ missing: {}, isTooLarge: false });
    expect(Object.values((await frontier.inputs('r', nameOf(offer))) as object)[0]).toEqual({
      [markOf('http://a.test/price', 'price', undefined, groupOf(OWNER))]: 'anew price',
    });
    await settle(offer);
    await settle(await take());
    expect(await runs.progress('r')).toMatchObject({ discovered: 4, done: 4, openGroups: 0, state: 'finished' });
  },
);

test('after a power cut, a join whose record is lost is made again from inputs that are not lost', async () => {
  const { runs, frontier, take, settle } = await cutAfter('join', 'members');
  expect(await runs.progress('r')).toMatchObject({ discovered: 3, waiting: 1, done: 2, openGroups: 1 });
  const offer = await take();
  expect(offer.task.step).toBe('offer');
  expect(await frontier.inputs('r', nameOf(offer))).toMatchObject({
    inputs: { [`price http://a.test/price @${groupOf(OWNER)}`]: 'cheap' },
  });
  await settle(offer);
  await settle(await take());
  expect(await runs.progress('r')).toMatchObject({ discovered: 4, done: 4, openGroups: 0, state: 'finished' });
});
