import { expect, test } from 'vitest';
import { Replayer } from '../../../../services/producer/replayer.ts';
import { MAX_OFFER, nameOf } from '../../../../shared/ports/frontier/frontier.ts';
import type { JoinPlan } from '../../../../shared/task/group/plan.ts';
import { writeMessage } from '../../../../shared/task/task/message.ts';
import { idOf } from '../../../../shared/task/task/task.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { EVERYTHING, offerOf, openEmbedded } from '../../../support/stores/embedded.ts';
import { letterOf } from '../../../support/stores/letters.ts';
import { withMethods } from '../../../support/with-methods.ts';

function setup() {
  const stores = openEmbedded();
  const parts = {
    ...stores,
    letters: stores.transport,
    rules: [],
    filter: {},
    limit: Number.POSITIVE_INFINITY,
    defaults: FAST_RUN,
    overrides: {},
    isDry: false,
    signal: new AbortController().signal,
  };
  return {
    ...stores,
    parts,
    replay: (changed: Partial<typeof parts> = {}) => new Replayer({ ...parts, ...changed }).replay(),
    left: async () => (await stores.transport.browse(99)).length,
  };
}

const MIB = 1024 ** 2;
const URLS = ['http://a.test/1', 'http://a.test/2', 'http://a.test/3'];

test('a dead letter is deleted only after its task is offered', async () => {
  const { transport, frontier, replay, left } = setup();
  await transport.publish(URLS.map((url) => letterOf(url)));
  const seen: number[] = [];
  const watched = withMethods(frontier, {
    offer: async (...args) => {
      const answer = await frontier.offer(...args);
      seen.push(await left());
      return answer;
    },
  });
  expect(await replay({ frontier: watched })).toMatchObject({ runs: [{ letters: 3, accepted: 3 }], malformed: 0 });
  expect([seen, await left()]).toEqual([[3], 0]);
});

test('dead letters beyond the size of an offer are offered in several offers', async () => {
  const { transport, replay, runs } = setup();
  const letters = 2 * MAX_OFFER + 1;
  await transport.publish(Array.from({ length: letters }, (_, i) => letterOf(`http://a.test/${i}`)));
  let fates: readonly string[] = [];
  const atOnce = withMethods(transport, {
    sift: async (judge) => {
      fates = await judge(await transport.browse(letters));
    },
  });
  expect(await replay({ letters: atOnce })).toMatchObject({ runs: [{ letters, accepted: letters, known: 0 }] });
  expect(fates).toEqual(Array(letters).fill('delete'));
  expect((await runs.progress('gone-replay-1'))?.discovered).toBe(letters);
});

/** Returns a function whose promises all resolve at its call number `size`. */
function meeting(size: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let come = 0;
  return () => {
    if (++come === size) resolve();
    return promise;
  };
}

test('dead letters of many runs are replayed at once, without waiting for each other', async () => {
  const { transport, frontier, runs, replay } = setup();
  const origins = Array.from({ length: 20 }, (_, n) => `gone-${n}`);
  await transport.publish(URLS.flatMap((url) => origins.map((run) => letterOf(url, { run }))));
  const [looked, offered, sealed] = [meeting(20), meeting(20), meeting(20)];
  const together = {
    letters: withMethods(transport, {
      sift: async (judge) => {
        await judge(await transport.browse(99));
      },
    }),
    frontier: withMethods(frontier, { offer: async (...args) => offered().then(() => frontier.offer(...args)) }),
    runs: withMethods(runs, {
      progress: async (run) => looked().then(() => runs.progress(run)),
      seal: async (...args) => sealed().then(() => runs.seal(...args)),
    }),
  };
  const replayed = await replay(together);
  expect(replayed.runs.map(({ origin, letters, accepted }) => [origin, letters, accepted])).toEqual(
    origins.map((origin) => [origin, 3, 3]),
  );
});

test('dead letters of hundreds of runs are replayed in little memory', async () => {
  const { transport, replay } = setup();
  const origins = Array.from({ length: 300 }, (_, n) => `gone-${n}`);
  await transport.publish(origins.map((run) => letterOf('http://a.test/', { run })));
  const before = process.memoryUsage().arrayBuffers;
  const { runs } = await replay({ isDry: true });
  expect(runs).toHaveLength(300);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * MIB);
});

test('dead letters are compared by the URL rules of their run', async () => {
  const { transport, runs, replay } = setup();
  await runs.open('gone', { ...FAST_RUN, urlKey: ['no-www'] }, 'p');
  await transport.publish(['http://www.a.test/1', 'http://a.test/1'].map((url) => letterOf(url)));
  expect(await replay()).toMatchObject({
    runs: [{ letters: 2, accepted: 1, known: 1, options: { urlKey: ['no-www'] } }],
  });
});

test('a replay repeated after a kill between offer and deletion joins its run, which knows the offered tasks', async () => {
  const { transport, runs, replay, left } = setup();
  await transport.publish(URLS.map((url) => letterOf(url)));
  const killed = withMethods(transport, {
    sift: async (judge) => {
      await judge(await transport.browse(2));
      throw new Error('killed');
    },
  });
  await expect(replay({ letters: killed })).rejects.toThrow('killed');
  expect([await left(), (await runs.progress('gone-replay-1'))?.discovered]).toEqual([3, 2]);
  expect(await replay()).toMatchObject({ runs: [{ run: 'gone-replay-1', isJoined: true, accepted: 1, known: 2 }] });
  expect(await runs.progress('gone-replay-1')).toMatchObject({ discovered: 3, duplicate: 0, sealed: true });
  expect(await left()).toBe(0);
});

test('dead letters that come back after their replay are known, whatever the outcome of their tasks', async () => {
  const { transport, frontier, runs, replay, left } = setup();
  await transport.publish(URLS.map((url) => letterOf(url)));
  await replay();
  for (const task of (await frontier.release({ ...EVERYTHING, limit: 2 })).tasks)
    await frontier.settle('gone-replay-1', nameOf(task), { outcome: { kind: 'failed', reason: 'dns' } });
  await transport.publish([...URLS, 'http://a.test/4'].map((url) => letterOf(url)));
  expect(await replay()).toMatchObject({ runs: [{ run: 'gone-replay-2', letters: 4, accepted: 1, known: 3 }] });
  expect([(await runs.progress('gone-replay-2'))?.discovered, await left()]).toEqual([1, 0]);
});

test('a replay whose run is cancelled fails and keeps its dead letters', async () => {
  const { transport, runs, frontier, replay, left } = setup();
  await transport.publish(URLS.map((url) => letterOf(url)));
  const cancelling = withMethods(frontier, {
    offer: async (run, ...args) => {
      await runs.cancel(run);
      return await frontier.offer(run, ...args);
    },
  });
  await expect(replay({ frontier: cancelling })).rejects.toThrow('run gone-replay-1 takes no URLs: it is cancelled');
  expect(await left()).toBe(3);
});

test('a replay fails if the store loses its run; the run is not created again, and the dead letters stay', async () => {
  const [first, second] = [setup(), setup()];
  await first.transport.publish(URLS.map((url) => letterOf(url)));
  let { frontier, runs } = first;
  const losing = {
    frontier: withMethods(frontier, { offer: (...args) => frontier.offer(...args) }),
    runs: withMethods(runs, {
      open: (...args) => runs.open(...args),
      beat: (...args) => runs.beat(...args),
      seal: (...args) => runs.seal(...args),
    }),
  };
  const oneByOne = withMethods(first.transport, {
    sift: async (judge) => {
      const [one, ...others] = await first.transport.browse(3);
      await judge(one === undefined ? [] : [one]);
      ({ frontier, runs } = second);
      await judge(others);
    },
  });
  const lost = 'the store has lost the run gone-replay-1: its progress is unknown';
  await expect(first.replay({ ...losing, letters: oneByOne })).rejects.toThrow(lost);
  expect(await second.runs.progress('gone-replay-1')).toBeUndefined();
  expect(await first.left()).toBe(3);
  ({ frontier, runs } = first);
  const lastly = withMethods(first.transport, {
    sift: async (judge) => {
      await judge(await first.transport.browse(3));
      ({ frontier, runs } = second);
    },
  });
  await expect(first.replay({ ...losing, letters: lastly })).rejects.toThrow(lost);
  expect(await second.runs.progress('gone-replay-1')).toBeUndefined();
});

test('a replay waits for a full store until it is stopped', async () => {
  const { transport, frontier, runs, clock, replay, left } = setup();
  await transport.publish(URLS.map((url) => letterOf(url)));
  let isFull = true;
  const full = withMethods(frontier, {
    offer: async (...args) => (isFull ? { refused: 'full' } : await frontier.offer(...args)),
  });
  const abort = new AbortController();
  const stopped = replay({ frontier: full, signal: abort.signal });
  await new Promise(setImmediate);
  abort.abort();
  await stopped;
  expect(await left()).toBe(3);
  let beats = 0;
  const replaying = replay({ frontier: full, runs: withMethods(runs, { beat: async () => void beats++ }) });
  await new Promise(setImmediate);
  isFull = false;
  clock.step(1_000);
  expect(await replaying).toMatchObject({ runs: [{ accepted: 3, isJoined: true }] });
  expect(beats, 'while it waits, its run does not look abandoned').toBe(2);
});

/** Dead letters of two members and a join of one owner, and of a member of another owner. */
function lettersOfGroups() {
  const [mine, other] = ['http://a.test/mine', 'http://a.test/other'].map((url) => `product ${url}`) as [
    string,
    string,
  ];
  const member = (url: string, owner: string) => letterOf(url, { step: 'price', owner });
  return [
    ...[member('http://a.test/1', mine), member('http://a.test/2', mine), member('http://a.test/3', other)],
    letterOf('http://a.test/mine', { step: 'offer', owner: mine, isJoin: true }),
  ];
}
const JOINS: JoinPlan = {
  joins: { offer: { per: 'product', of: ['price'] } },
  groups: { product: { layers: [['offer']], takes: ['price'] } },
  owners: { price: 'product' },
  run: [],
};

test('dead letters of groups offer each owner once, and a dry run counts them', async () => {
  const { transport, runs, frontier, replay, left } = setup();
  await runs.open('gone', { ...FAST_RUN, dedup: 'ever', joins: JOINS }, 'p');
  await transport.publish([...lettersOfGroups(), letterOf('http://a.test/plain')]);
  const ofGroups = { letters: 4, owners: 2 };
  expect(await replay({ isDry: true })).toMatchObject({
    runs: [{ letters: 5, ofGroups, accepted: 0 }],
    withoutOwner: 0,
  });
  expect(await runs.progress('gone-replay-1')).toBeUndefined();
  expect(await replay()).toMatchObject({ runs: [{ letters: 5, ofGroups, accepted: 3, known: 0 }] });
  expect(await left()).toBe(0);
  const tasks = (await frontier.release(EVERYTHING)).tasks.map(({ task }) => [task.step, task.url, task.replayed]);
  expect(tasks.toSorted()).toEqual([
    ['', 'http://a.test/plain', undefined],
    ['product', 'http://a.test/mine', { claimed: 'product http://a.test/led' }],
    ['product', 'http://a.test/other', { claimed: 'product http://a.test/led' }],
  ]);
});

test('an owner is offered once even if its group’s letters come apart, and as a plain task for a letter of its own', async () => {
  const { transport, runs, frontier, replay } = setup();
  await runs.open('gone', { ...FAST_RUN, dedup: 'ever', joins: JOINS }, 'p');
  await transport.publish([...lettersOfGroups().slice(0, 2), letterOf('http://a.test/mine', { step: 'product' })]);
  const apart = withMethods(transport, {
    sift: async (judge) => {
      for (const letter of (await transport.browse(9)).toReversed()) await judge([letter]);
    },
  });
  expect(await replay({ letters: apart })).toMatchObject({
    runs: [{ letters: 3, ofGroups: { letters: 2, owners: 1 }, accepted: 1, known: 2 }],
  });
  const { tasks } = await frontier.release(EVERYTHING);
  expect(tasks.map(({ task }) => [task.url, task.replayed])).toEqual([['http://a.test/mine', undefined]]);
});

test('dead letters that name no owner, or whose run lacks the join, stay and open no run', async () => {
  const { transport, runs, replay, left } = setup();
  await transport.publish([
    ...lettersOfGroups().slice(0, 1),
    letterOf('http://a.test/old', { step: 'price', owner: '' }),
    letterOf('', { step: 'report', isJoin: true }),
  ]);
  expect(await replay()).toMatchObject({ runs: [], malformed: 0, withoutOwner: 3 });
  await runs.open('gone', { ...FAST_RUN, joins: JOINS }, 'p');
  expect(await replay({ isDry: true })).toMatchObject({ runs: [{ letters: 1 }], withoutOwner: 2 });
  expect(await left()).toBe(3);
  expect(await runs.progress('gone-replay-1')).toBeUndefined();
});

test('an owner that an earlier replay has offered is known', async () => {
  const { transport, runs, frontier, replay, left } = setup();
  await runs.open('gone', { ...FAST_RUN, dedup: 'ever', joins: JOINS }, 'p');
  await transport.publish(lettersOfGroups().slice(0, 1));
  await replay();
  await frontier.release(EVERYTHING);
  await transport.publish(lettersOfGroups());
  expect(await replay()).toMatchObject({
    runs: [{ run: 'gone-replay-2', letters: 4, ofGroups: { owners: 2 }, accepted: 1, known: 1 }],
  });
  expect(await left()).toBe(0);
});

/** Two released tasks of a run, with their messages as a policy of the broker moves them to the dead letters. */
async function movedByBroker({ frontier, runs, parts }: ReturnType<typeof setup>) {
  await runs.open('gone', FAST_RUN, 'p');
  await frontier.offer('gone', [offerOf('http://a.test/1'), offerOf('http://a.test/2')]);
  const { tasks } = await frontier.release(EVERYTHING);
  const messages = tasks.map(({ task, release }) => ({
    id: idOf(task),
    body: Buffer.from(writeMessage(task)),
    headers: { 'x-release': release },
    moved: { from: 'url_queue_ttl', why: 'expired', at: 1_800_000_000_000 },
  }));
  const fates: (readonly string[])[] = [];
  const letters = withMethods(parts.letters, {
    sift: async (judge) => void fates.push(await judge(messages)),
  });
  return { tasks, letters, fates };
}

test('tasks dead-lettered by a policy of the broker wait in their own run again, without an attempt counted', async () => {
  const all = setup();
  const { letters, fates } = await movedByBroker(all);
  expect(await all.replay({ letters, isDry: true })).toMatchObject({ runs: [], undelivered: 2 });
  expect(await all.runs.progress('gone')).toMatchObject({ waiting: 0, inFlight: 2 });
  expect(await all.replay({ letters })).toMatchObject({ runs: [], undelivered: 2, malformed: 0 });
  expect(fates).toEqual([
    ['keep', 'keep'],
    ['delete', 'delete'],
  ]);
  expect(await all.runs.progress('gone')).toMatchObject({ discovered: 2, waiting: 2, inFlight: 0 });
  const again = (await all.frontier.release(EVERYTHING)).tasks;
  expect(again.map(({ task, state }) => [task.url, state.attempts]).toSorted()).toEqual([
    ['http://a.test/1', 0],
    ['http://a.test/2', 0],
  ]);
});

test('a task dead-lettered by the broker that has been crawled since is not crawled again', async () => {
  const all = setup();
  const { tasks, letters, fates } = await movedByBroker(all);
  for (const task of tasks) await all.frontier.settle('gone', nameOf(task), { outcome: { kind: 'done' } });
  expect(await all.replay({ letters })).toMatchObject({ runs: [], undelivered: 2 });
  expect(fates).toEqual([['delete', 'delete']]);
  expect(await all.runs.progress('gone')).toMatchObject({ done: 2, waiting: 0, inFlight: 0 });
});

test('a task dead-lettered by the broker whose run is forgotten is replayed like a failed one', async () => {
  const [before, after] = [setup(), setup()];
  const { letters, fates } = await movedByBroker(before);
  expect(await after.replay({ letters })).toMatchObject({
    runs: [{ run: 'gone-replay-1', letters: 2, accepted: 2, isForgotten: true }],
    undelivered: 0,
  });
  expect(fates).toEqual([['delete', 'delete']]);
});
