import { expect, test } from 'vitest';
import { LostDeliveries, strayReaders } from '../../../../services/process/lost-deliveries.ts';
import { nameOf } from '../../../../shared/ports/frontier/frontier.ts';
import type { LiveWorker } from '../../../../shared/ports/roster.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { EVERYTHING, offerOf, openEmbedded } from '../../../support/stores/embedded.ts';
import { offerAll } from '../../../support/stores/offer-all.ts';

const PROGRESS = { unsettledMs: 60_000, stuckAfterMs: 60_000 };
const SILENT: LiveWorker = {
  ...{ id: 'w', host: 'machine', version: '1', slots: 8, bound: 'slots', inHand: 0, state: 'consuming', silentMs: 0 },
};
const IDLE: LiveWorker = { ...SILENT, progress: PROGRESS };

/** What a look finds. */
interface Seen {
  workers: readonly LiveWorker[];
  ready: number;
  looks: number;
  isBusy: boolean;
  broker?: Error;
}

/** Three tasks of the run `r`, given to a broker that has lost them. */
async function setup() {
  const stores = openEmbedded();
  const { clock, frontier, runs } = stores;
  await runs.open('r', FAST_RUN, 'p');
  await offerAll(
    frontier,
    'r',
    [1, 2, 3].map((n) => offerOf(`http://a.test/${n}`)),
  );
  const deliver = async (run: string): Promise<void> => {
    const { tasks } = await frontier.release(EVERYTHING);
    await frontier.queued(run, tasks.map(nameOf));
  };
  await deliver('r');
  const seen: Seen = { workers: [IDLE], ready: 0, looks: 0, isBusy: false };
  const lost = new LostDeliveries({
    ...stores,
    roster: {
      workers: async () => {
        seen.looks++;
        return seen.workers;
      },
    },
    transport: {
      depths: async () => {
        if (seen.broker !== undefined) throw seen.broker;
        const none = { ready: 0, consumers: 1 };
        return { priority: none, normal: { ready: seen.ready, consumers: 1 }, failed: none };
      },
    },
    isBusy: () => seen.isBusy,
  });
  /** Looks every five seconds for so long, and returns how many tasks were put back. */
  const during = async (seconds: number): Promise<number> => {
    let tasks = 0;
    for (let s = 0; s < seconds; s += 5) {
      clock.step(5_000);
      tasks += await lost.putBack();
    }
    return tasks;
  };
  return { ...stores, seen, deliver, during };
}

test('tasks that neither the broker nor any worker has wait again after two looks', async () => {
  const { during, runs } = await setup();
  expect(await during(55)).toBe(0);
  expect(await during(5)).toBe(3);
  expect(await runs.progress('r')).toMatchObject({ waiting: 3, inFlight: 0 });
  expect(await during(300), 'once').toBe(0);
});

test('tasks of several runs come back, each run by itself', async () => {
  const { during, deliver, runs, frontier, seen } = await setup();
  await runs.open('other', FAST_RUN, 'p');
  await offerAll(frontier, 'other', [offerOf('http://b.test/')]);
  await deliver('other');
  expect(await during(60)).toBe(4);
  expect(seen.looks).toBe(2);
});

test.each<[string, Partial<Seen>]>([
  ['a queue has messages', { ready: 1 }],
  ['this process has something in hand', { isBusy: true }],
  ['another worker has something in hand', { workers: [IDLE, { ...IDLE, inHand: 1 }] }],
  ['a worker has just settled something', { workers: [{ ...IDLE, progress: { ...PROGRESS, settledMsAgo: 1_000 } }] }],
  ['a worker does not tell what it does', { workers: [SILENT] }],
])('nothing is put back while %s', async (_, change) => {
  const { during, seen } = await setup();
  Object.assign(seen, change);
  expect(await during(300)).toBe(0);
});

test('work between two looks starts the wait anew', async () => {
  const { during, seen } = await setup();
  await during(35);
  seen.isBusy = true;
  await during(5);
  seen.isBusy = false;
  expect(await during(45)).toBe(0);
  expect(await during(20)).toBe(3);
});

test('a run that moves between two looks has tasks on their way', async () => {
  const { during, deliver, frontier, clock } = await setup();
  for (let n = 0; n < 6; n++) {
    await offerAll(frontier, 'r', [offerOf(`http://a.test/later/${n}`)]);
    clock.step(1_000);
    await deliver('r');
    expect(await during(30)).toBe(0);
  }
  expect(await during(60)).toBe(9);
});

test('a look that fails starts anew', async () => {
  const { during, seen } = await setup();
  await during(30);
  seen.broker = new Error('the broker is away');
  await expect(during(30)).rejects.toThrow('away');
  delete seen.broker;
  expect(await during(30)).toBe(0);
  expect(await during(30)).toBe(3);
});

test('in a large fleet each worker looks less often', async () => {
  const { during, seen } = await setup();
  seen.workers = Array.from({ length: 200 }, () => IDLE);
  expect(await during(225)).toBe(0);
  expect(seen.looks).toBe(1);
  expect(await during(5)).toBe(3);
});

const depthsOf = (ready: number, consumers: number) => ({
  depths: async () => ({
    priority: { ready: 0, consumers: 0 },
    normal: { ready, consumers },
    failed: { ready: 9, consumers: 0 },
  }),
});
const liveWorker = { state: 'consuming' } as LiveWorker;

test.each([
  ['deliveries are ready, and nobody reads', [liveWorker], 5, 0, true],
  ['somebody reads', [liveWorker], 5, 1, false],
  ['nothing is ready', [liveWorker], 0, 0, false],
  ['no worker is alive', [], 5, 0, false],
  ['the worker waits for something', [{ ...liveWorker, state: 'waiting: broker' } as LiveWorker], 5, 0, false],
] as const)('workers that read other queues are told when %s', async (_, workers, ready, consumers, isTold) => {
  const said = await strayReaders(workers, depthsOf(ready, consumers));
  expect(said?.includes('5 deliveries ready, and none of 1 worker reads these queues') ?? false).toBe(isTold);
});

const beating = { ...liveWorker, silentMs: 6_000 };
const killed = { ...liveWorker, silentMs: 6_001 };
const waiting: LiveWorker = { ...beating, state: 'waiting: Redis' };

// biome-ignore format: a table
test.each([
  ['each worker reads',                      [beating, beating], 2, undefined],
  ['one worker reads elsewhere',             [beating, beating], 1, /^has queues that only 1 of 2 live workers read\. .* RABBITMQ_URL/],
  ['no worker reads here',                   [beating, beating], 0, /^has queues that only 0 of 2 live workers read\. .* RABBITMQ_URL/],
  ['a worker was perhaps killed',            [beating, killed],  1, undefined],
  ['a worker waits, and still reads',        [beating, waiting], 2, undefined],
  ['a reader is no worker of this store',    [beating],          2, /^has queues that 2 processes read, and 1 worker is alive in this Redis\. .* KEY_PREFIX/],
  ['no reader is a worker of this store',    [],                 1, /^has queues that 1 process reads, and 0 workers are alive in this Redis\. .* KEY_PREFIX/],
  ['nobody is there',                        [],                 0, undefined],
] as const)('readers of the queues that are not the live workers are told when %s', async (_, workers, readers, said) => {
  expect(await strayReaders(workers, depthsOf(0, readers))).toEqual(
    said === undefined ? undefined : expect.stringMatching(said),
  );
});
