import { expect, onTestFinished, test } from 'vitest';
import { nameOf, type Offer, type ReleasedTask, type Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../../shared/ports/runs.ts';
import { groupOf } from '../../../../shared/task/group/group.ts';
import type { JoinPlan } from '../../../../shared/task/group/plan.ts';
import { INITIAL_FIELDS } from '../../../../shared/task/task/form.ts';
import { markOf } from '../../../../shared/task/url/fingerprint.ts';
import type { OpenStore } from '../../../support/stores/stores.ts';
import { OPTIONS, ROOM } from './frontier-setup.ts';

/** A product page leads to prices, which join in an offer. */
const PLAN: JoinPlan = {
  joins: { offer: { per: '', of: ['price'] } },
  groups: { '': { layers: [['offer']], takes: ['price'] } },
  owners: { price: '' },
  run: [],
};
const OWNER = 'http://a.test/p';
const GROUP = groupOf(OWNER);
const MOVED = 'http://a.test/moved';
const DONE: Settlement = { outcome: { kind: 'done' } };
const FAILED: Settlement = { outcome: { kind: 'failed', reason: 'http_5xx' } };

export function describeReplayedGroups(name: string, open: OpenStore): void {
  async function setup(options: Partial<RunOptions> = {}) {
    const { port, runs, ...store } = await open();
    onTestFinished(() => store.close());
    const begin = (run: string) => runs.open(run, { ...OPTIONS, joins: PLAN, ...options }, 'p');
    await begin('first');
    await begin('replay');
    const one = async (run: string): Promise<ReleasedTask> => {
      const { tasks } = await port.release(ROOM);
      const [task] = tasks;
      if (tasks.length !== 1 || task === undefined) throw new Error(`one is due, got ${tasks.length}`);
      expect(task.task.run).toBe(run);
      await port.admit(run, nameOf(task), 'w');
      return task;
    };
    const settle = (task: ReleasedTask, settlement: Settlement = DONE) =>
      port.settle(task.task.run, nameOf(task), settlement);
    const follow = (parent: ReleasedTask) =>
      port.offer(parent.task.run, [price()], { parent: { ...nameOf(parent), tally: { stamp: 'a', links: 0 } } });
    /** Offers and admits the owner, which then offers its price. */
    const begun = async (run: string, offer: Offer) => {
      expect(await port.offer(run, [offer])).toEqual({ accepted: 1, known: 0 });
      const owner = await one(run);
      expect(await follow(owner)).toEqual({ accepted: 1, known: 0 });
      return owner;
    };
    /** The first run crawls the group; its price fails. */
    const failedPrice = async () => {
      await settle(await begun('first', owner()));
      await settle(await one('first'), FAILED);
      await settle(await one('first'));
    };
    const counts = async (run: string) => {
      const progress = await runs.progress(run);
      if (progress === undefined) throw new Error('the run is known');
      const { discovered, waiting, inFlight, done, skipped, failed, cancelled, openGroups } = progress;
      expect(waiting + inFlight + done + skipped + failed + cancelled).toBe(discovered);
      return { discovered, done, failed, cancelled, openGroups };
    };
    return { ...store, port, runs, one, settle, follow, begun, failedPrice, counts };
  }

  test(`${name}: a replayed owner is taken once although it is marked, and its group is crawled again`, async () => {
    const { port, marks, one, settle, begun, failedPrice, counts } = await setup();
    await failedPrice();
    expect(await port.offer('replay', [owner()])).toEqual({ accepted: 0, known: 1 });
    const again = await begun('replay', owner('group'));
    expect(again.task).toMatchObject({ mark: OWNER, replayed: { claimed: MOVED } });
    expect(await port.offer('replay', [owner('group'), owner('task'), owner()])).toEqual({ accepted: 0, known: 3 });
    expect(await marks.ofRun('replay', [OWNER, MOVED])).toEqual([true, false]);
    await settle(again, { ...DONE, tally: { stamp: 'a', links: 1 } });
    const member = await one('replay');
    expect(member.task).toMatchObject({ step: 'price', replayed: {} });
    await settle(member, { ...DONE, input: 'cheap' });
    const join = await one('replay');
    expect(await port.inputs('replay', nameOf(join))).toMatchObject({
      inputs: { [member.task.mark]: 'cheap' },
      missing: {},
    });
    await settle(join);
    expect(await port.offer('replay', [owner('group')])).toEqual({ accepted: 0, known: 1 });
    expect(await counts('replay')).toMatchObject({ discovered: 3, done: 3, openGroups: 0 });
    expect(await counts('first')).toMatchObject({ discovered: 3, done: 2, failed: 1, openGroups: 0 });
  });

  test(`${name}: an owner replayed for its own dead letter and for its group is one task, whichever comes first`, async () => {
    const { port, one, settle } = await setup();
    await port.offer('first', [owner()]);
    await settle(await one('first'), FAILED);
    expect(await port.offer('replay', [owner('task')])).toEqual({ accepted: 1, known: 0 });
    expect(await port.offer('replay', [owner('group')])).toEqual({ accepted: 0, known: 1 });
    await settle(await one('replay'), FAILED);
    expect(await port.offer('replay', [owner('group'), owner('task')])).toEqual({ accepted: 0, known: 2 });
  });

  test(`${name}: a replayed owner is also taken only once by a run with its own marks`, async () => {
    const { port } = await setup({ dedup: 'run' });
    expect(await port.offer('replay', [owner('group')])).toEqual({ accepted: 1, known: 0 });
    expect(await port.offer('replay', [owner('group'), owner('task')])).toEqual({ accepted: 0, known: 2 });
  });

  test(`${name}: an incremental run takes a replayed owner that is not due, once`, async () => {
    const { port, failedPrice } = await setup({ incremental: true, recrawlAfterMs: 1e9 });
    await failedPrice();
    expect(await port.offer('replay', [owner()])).toEqual({ accepted: 0, known: 1 });
    expect(await port.offer('replay', [owner('group')])).toEqual({ accepted: 1, known: 0 });
    expect(await port.offer('replay', [owner('group')])).toEqual({ accepted: 0, known: 1 });
  });

  test(`${name}: a replayed owner beyond the limit of its run is left out, and not taken`, async () => {
    const { port } = await setup();
    const other: Offer = { ...seed('http://a.test/other'), replayed: {}, replayOf: 'group' };
    expect(await port.offer('replay', [owner('group'), other], { limit: 1 })).toEqual({
      ...{ accepted: 1, known: 0 },
      leftOut: { limit: 1 },
    });
    const beyond = { accepted: 0, known: 0, leftOut: { limit: 1 } };
    expect(await port.offer('replay', [other], { limit: 1 }), 'it counts all owners of the run').toEqual(beyond);
    expect(await port.offer('replay', [owner('group'), other])).toEqual({ accepted: 1, known: 1 });
  });

  test(`${name}: a cancelled replay keeps a mark the owner had before, and a failed replay frees it`, async () => {
    const { port, runs, one, settle, failedPrice, counts } = await setup();
    await failedPrice();
    const fresh = { ...seed('http://a.test/fresh'), replayOf: 'group' } as const;
    await port.offer('replay', [owner('group'), fresh]);
    await runs.cancel('replay');
    await port.drain();
    expect(await counts('replay')).toMatchObject({ discovered: 2, cancelled: 2 });
    expect(await port.offer('first', [owner(), seed('http://a.test/fresh')])).toEqual({ accepted: 1, known: 1 });
    await settle(await one('first'), FAILED);
    await runs.open('next', { ...OPTIONS, joins: PLAN }, 'p');
    await port.offer('next', [owner('group')]);
    await settle(await one('next'), FAILED);
    expect(await port.offer('first', [owner()])).toEqual({ accepted: 1, known: 0 });
  });

  test(`${name}: an open group reports its owner and the owner’s claim until its join has ended`, async () => {
    const { port, one, settle, follow } = await setup();
    expect(await port.owner('first', GROUP)).toBeUndefined();
    await port.offer('first', [{ ...owner(), kept: { n: 1 } }]);
    const task = await one('first');
    expect(await port.claim('first', nameOf(task), MOVED)).toBe('claimed');
    await follow(task);
    const known = { mark: OWNER, url: OWNER, step: '', host: 'a.test', run: 'first', kept: { n: 1 } };
    expect(await port.owner('first', GROUP)).toMatchObject({ task: known, claimed: MOVED });
    const moved = { ...task.task, redirects: ['http://a.test/other'] };
    await settle(task, { ...DONE, tally: { stamp: 'a', links: 1 }, moved, claimed: 'http://a.test/other' });
    expect(await port.owner('first', GROUP)).toMatchObject({ task: known, claimed: 'http://a.test/other' });
    await settle(await one('first'), FAILED);
    expect(await port.owner('first', GROUP), 'its join has not ended').toMatchObject({ task: known });
    await settle(await one('first'), FAILED);
    expect(await port.owner('first', GROUP)).toBeUndefined();
  });

  test(`${name}: an owner that settles without a redirect has no claim, although it had one before`, async () => {
    const { port, one, settle, follow } = await setup();
    await port.offer('first', [owner()]);
    const task = await one('first');
    await port.claim('first', nameOf(task), MOVED);
    await follow(task);
    await settle(task, { ...DONE, tally: { stamp: 'a', links: 1 } });
    expect(await port.owner('first', GROUP)).not.toHaveProperty('claimed');
  });
}

function seed(url: string) {
  return { ...INITIAL_FIELDS, url, mark: url, host: 'a.test', step: '', queue: 'normal' } as const;
}

/** The offer of the product, as a seed or by a replay. */
function owner(replayOf?: 'task' | 'group'): Offer {
  const replayed = replayOf === 'group' ? { replayed: { claimed: MOVED } } : {};
  return { ...seed(OWNER), ...replayed, replayOf };
}

function price(): Offer {
  const url = 'http://a.test/price';
  return { ...seed(url), step: 'price', mark: markOf(url, 'price', undefined, GROUP), replayed: {} };
}
