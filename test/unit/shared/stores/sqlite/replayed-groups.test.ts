import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { nameOf, type ReleasedTask, type Settlement } from '../../../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../../../shared/ports/runs.ts';
import { beginRun, reopenRun } from '../../../../../shared/stores/sqlite/local-runs.ts';
import { groupOf, joinMark } from '../../../../../shared/task/group/group.ts';
import type { JoinPlan } from '../../../../../shared/task/group/plan.ts';
import { INITIAL_FIELDS } from '../../../../../shared/task/task/form.ts';
import type { TaskOffer } from '../../../../../shared/task/task/offer.ts';
import { idOf } from '../../../../../shared/task/task/task.ts';
import { markOf } from '../../../../../shared/task/url/fingerprint.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { EVERYTHING, offerOf } from '../../../../support/stores/embedded.ts';
import { crashedFolder, newFolder } from '../../../../support/stores/kept-store.ts';
import { letterOf } from '../../../../support/stores/letters.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

const PLAN: JoinPlan = {
  joins: { offer: { per: '', of: ['price', 'review'] }, report: { of: ['offer'] } },
  groups: { '': { layers: [['offer']], takes: ['price', 'review'] } },
  owners: { price: '', review: '' },
  run: [['report']],
};
const OWNER = 'http://a.test/p';
const GROUP = groupOf(OWNER);
const DONE: Settlement = { outcome: { kind: 'done' } };
const FAILED: Settlement = { outcome: { kind: 'failed', reason: 'timeout' } };
const OPTIONS: RunOptions = { ...FAST_RUN, dedup: 'run', joins: PLAN };
const AGAIN = { ...offerOf(OWNER), replayed: {}, replayOf: 'group' } as TaskOffer;

type Failing = 'price' | 'review' | 'offer';

/** A local run that is open in a folder. */
async function openRun(folder: string, clock: SteppedClock, options: RunOptions | 'resumed') {
  const ports = openLocalParts({ clock, path: join(folder, 'trawl.sqlite') });
  const parts = { store: ports.store, folder, syncRecords: async () => {} };
  // The machine has been restarted since.
  if (options === 'resumed')
    await ports.store.move(({ database }) => database.run("UPDATE crawls SET boot = 'another'"));
  const owned =
    options === 'resumed'
      ? await reopenRun('r', parts)
      : await beginRun({ crawler: 'x', run: 'r', options, seeds: [], flags: {} }, parts);
  onTestFinished(async () => {
    await owned.close();
    ports.database.close();
    await rm(folder, { recursive: true, force: true });
  });
  const { frontier, runs, letters } = ports;
  const take = async (): Promise<ReleasedTask[]> => [...(await frontier.release(EVERYTHING)).tasks];
  const settle = async (task: ReleasedTask, settlement: Settlement = DONE): Promise<void> => {
    expect(await frontier.settle('r', nameOf(task), settlement)).toBe('settled');
  };
  /** Works all that is due: owners lead to a price and a review, and those that are to fail have a letter. */
  const work = async (failing: readonly Failing[] = [], most?: number) => {
    for (let due = await take(); due.length > 0; due = await take())
      for (const task of due) {
        const { step, mark, replayed } = task.task;
        if (failing.some((each) => each === step)) {
          await letters.keep([
            letterOf(step === 'offer' ? OWNER : `http://a.test/${step}`, {
              ...{ run: 'r', step, owner: OWNER, isJoin: step === 'offer' },
            }),
          ]);
          const place = `shop.ts:7, step ${step}`;
          await settle(task, { ...FAILED, attempt: { at: 1, worker: 'w', reason: 'timeout', place, error: 'no' } });
        } else if (step === '') {
          const parent = { ...nameOf(task), tally: { stamp: 'a', links: 0 } };
          const members = ['price', 'review'].map((each) => member(each, groupOf(mark), replayed));
          await frontier.offer('r', members, { parent, most });
          await settle(task, { ...DONE, tally: { stamp: 'a', links: 2 } });
        } else await settle(task, { ...DONE, input: step });
      }
  };
  return {
    ...{ ...ports, owned, take, settle, work },
    begin: async () => {
      if (options === 'resumed') return;
      await runs.open('r', options, 'p');
      await frontier.offer('r', [offerOf(OWNER)]);
      await runs.seal('r');
    },
    replay: async (...steps: Failing[]) =>
      await letters.replay(
        'r',
        steps.map((step) => ({
          id: idOf({ run: 'r', mark: markFailed(step) }),
          reason: 'timeout',
          offer: AGAIN,
        })),
      ),
    counts: async () => {
      const progress = await runs.progress('r');
      if (progress === undefined) throw new Error('the run is known');
      const { discovered, waiting, inFlight, done, skipped, failed, cancelled, openGroups, state, reasons } = progress;
      expect(waiting + inFlight + done + skipped + failed + cancelled).toBe(discovered);
      return { discovered, waiting, done, failed, openGroups, state, reasons, steps: progress.steps };
    },
  };
}

async function setup(options: Partial<RunOptions> = {}) {
  const [folder, clock] = [await newFolder(), new SteppedClock()];
  const run = await openRun(folder, clock, { ...OPTIONS, ...options });
  await run.begin();
  return {
    ...run,
    /** The state of the disk at the power cut, on another machine. */
    afterPowerCut: async () => await openRun(await crashedFolder(folder), clock, 'resumed'),
  };
}

function member(step: string, group: string, replayed: object | undefined): TaskOffer {
  const url = `http://a.test/${step}`;
  const mark = markOf(url, step, undefined, group);
  return { ...INITIAL_FIELDS, url, mark, step, host: 'a.test', queue: 'normal', ...(replayed ? { replayed } : {}) };
}

function markFailed(step: Failing): string {
  return step === 'offer' ? joinMark(step, GROUP) : markOf(`http://a.test/${step}`, step, undefined, GROUP);
}

test.each([
  ['run', 'kept'],
  ['ever', 'kept'],
  ['run', 'forgotten'],
] as const)(
  'the letters of one owner have it wait once, and its group and the report are made anew: dedup %s, tasks that are over are %s',
  async (dedup, over) => {
    const { work, replay, letters, counts, frontier, take, settle, owned } = await setup({ dedup });
    await work(['price', 'review', 'offer']);
    if (over === 'forgotten') await owned.sync();
    expect(await counts()).toMatchObject({ discovered: 5, done: 2, failed: 3, state: 'finished' });
    expect(await replay('price', 'review')).toEqual({ fates: ['taken', 'known'] });
    expect(await replay('offer')).toEqual({ fates: ['known'] });
    expect(await letters.count()).toBe(0);
    expect(await counts()).toMatchObject({
      ...{ discovered: 2, waiting: 1, done: 1, failed: 0, openGroups: 0, state: 'running', reasons: { failed: {} } },
      steps: { price: { discovered: 0, failed: 0 }, offer: { discovered: 0, failed: 0 } },
    });
    const [owner] = await take();
    expect(owner?.task.replayed).toEqual({});
    expect(await replay('price'), 'it has no group yet').toEqual({ fates: ['known'] });
    if (owner === undefined) throw new Error('the owner is due');
    const members = ['price', 'review'].map((step) => member(step, GROUP, {}));
    const parent = { ...nameOf(owner), tally: { stamp: 'a', links: 0 } };
    expect(await frontier.offer('r', members, { parent })).toEqual({ accepted: 2, known: 0 });
    await settle(owner, { ...DONE, tally: { stamp: 'a', links: 2 } });
    for (const each of await take()) await settle(each, { ...DONE, input: each.task.step });
    const [join] = await take();
    if (join === undefined) throw new Error('the join is due');
    expect(await frontier.inputs('r', nameOf(join))).toMatchObject({
      inputs: { [markFailed('price')]: 'price', [markFailed('review')]: 'review' },
      missing: {},
    });
    await settle(join);
    const [report] = await take();
    expect(report?.task.step).toBe('report');
    expect(await counts()).toMatchObject({
      ...{ discovered: 6, done: 5, failed: 0, openGroups: 0 },
      steps: { price: { discovered: 1, done: 1 }, review: { done: 1 }, offer: { discovered: 1, done: 1 } },
    });
  },
);

test.each(['kept', 'forgotten'])(
  'the places of the crawler where its members and its join failed count them no more: tasks that are over are %s',
  async (over) => {
    const { work, replay, runs, owned } = await setup();
    await work(['price', 'review', 'offer']);
    if (over === 'forgotten') await owned.sync();
    expect((await runs.progress('r'))?.stepFailures).toHaveLength(3);
    await replay('price');
    expect(await runs.progress('r')).not.toHaveProperty('stepFailures');
    await work(['review']);
    const failures = [{ place: 'shop.ts:7, step review', pages: 1, error: 'no' }];
    expect(await runs.progress('r')).toMatchObject({ failed: 1, stepFailures: failures });
  },
);

test("while a group waits for its members, its letters stay, including its owner's", async () => {
  const { frontier, take, settle, replay, letters, counts } = await setup();
  const [owner] = await take();
  if (owner === undefined) throw new Error('the owner is due');
  const parent = { ...nameOf(owner), tally: { stamp: 'a', links: 0 } };
  await frontier.offer('r', [member('price', GROUP, undefined), member('review', GROUP, undefined)], { parent });
  await letters.keep([
    letterOf(OWNER, { run: 'r' }),
    letterOf('http://a.test/price', { run: 'r', step: 'price', owner: OWNER }),
  ]);
  await settle(owner, FAILED);
  const [price, review] = (await take()) as [ReleasedTask, ReleasedTask];
  await settle(price, FAILED);
  expect(await replay('price')).toEqual({ fates: ['inFlight'] });
  const own = { id: idOf({ run: 'r', mark: OWNER }), reason: 'timeout', offer: offerOf(OWNER) as TaskOffer } as const;
  expect(await letters.replay('r', [own])).toEqual({ fates: ['inFlight'] });
  expect(await letters.count()).toBe(2);
  await settle(review);
  expect(await letters.replay('r', [own])).toEqual({ fates: ['taken'] });
  expect(await replay('price')).toEqual({ fates: ['known'] });
  // The report was due when the review had ended.
  expect(await counts()).toMatchObject({ discovered: 2, waiting: 2, done: 0, failed: 0, openGroups: 0 });
});

test('a run that has reached its limit of pages still crawls a replayed group completely', async () => {
  const { work, replay, frontier, counts } = await setup();
  await work(['price'], 3);
  await replay('price');
  const other = await frontier.offer('r', [offerOf('http://a.test/other')], { most: 3 });
  expect(other).toEqual({ accepted: 0, known: 0, leftOut: { maxPages: 1 } });
  await work([], 3);
  expect(await counts()).toMatchObject({ discovered: 6, done: 6, failed: 0, state: 'finished' });
});

test('after a power cut, a replay continues, and the tasks that it has replaced do not come back', async () => {
  const { work, replay, afterPowerCut } = await setup();
  await work(['price']);
  await replay('price');
  const after = await afterPowerCut();
  // The report's record may be lost.
  expect(await after.counts()).toMatchObject({ waiting: 1, failed: 0, openGroups: 0, state: 'running' });
  await after.work();
  expect(await after.counts()).toMatchObject({ waiting: 0, failed: 0, openGroups: 0, state: 'finished' });
});
