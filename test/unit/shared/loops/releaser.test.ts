import { expect, test } from 'vitest';
import { readDeadLetter } from '../../../../shared/ports/dead-letter.ts';
import { nameOf } from '../../../../shared/ports/frontier/frontier.ts';
import type { PublishOutcome, Transport } from '../../../../shared/ports/transport.ts';
import { EVERYTHING, offerOf, releaserOf, settled } from '../../../support/stores/embedded.ts';
import { offerAll } from '../../../support/stores/offer-all.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { setup, urls } from './setup.ts';

test('a due task is published where it belongs, and its lease becomes that of its queue', async () => {
  const { releaser, frontier, published, clock } = await setup();
  await frontier.offer('r', [
    offerOf('http://a.test/1'),
    offerOf('http://news.test/1', { queue: 'priority', deadlineMs: 600_000 }),
  ]);
  await releaser.fill();
  expect(published.map(({ to, headers, ttlMs }) => ({ to, headers, ttlMs }))).toEqual([
    {
      to: 'normal',
      headers: { 'x-attempt': 1, 'x-release': clock.now() * 1_000 + 1, 'x-first-seen': clock.now() },
      ttlMs: undefined,
    },
    {
      to: 'priority',
      headers: {
        'x-attempt': 1,
        'x-release': clock.now() * 1_000 + 2,
        'x-first-seen': clock.now(),
        'x-deadline': clock.now() + 600_000,
      },
      ttlMs: 600_000,
    },
  ]);
  expect(JSON.parse(String(published[0]?.body))).toEqual({
    v: 1,
    run: 'r',
    url: 'http://a.test/1',
    depth: 0,
    queue: 'normal',
  });
  clock.step(60_000);
  expect(await frontier.reap(), 'queued, not publishing').toBe(0);
});

test.each([-86_400_000, -5_000, 5_000, 86_400_000])(
  'a deadline is by the frontier’s clock: what is left of it is the same to a machine that is %i ms off',
  async (offMs) => {
    const world = await setup();
    const { frontier, transport, published, clock } = world;
    const own = new SteppedClock(clock.now() + offMs);
    const watched = withMethods(transport as Transport, {
      publish: async (messages) => {
        published.push(...messages);
        return messages.map(() => 'confirmed');
      },
    });
    const releaser = releaserOf({ ...world, transport: watched, clock: own });
    await frontier.offer('r', [offerOf('http://news.test/1', { deadlineMs: 600_000 })]);
    await releaser.fill();
    expect(published.map(({ ttlMs }) => ttlMs)).toEqual([600_000]);
  },
);

// biome-ignore format: a table
test.each([
  ['confirmed', { waiting: 0, inFlight: 1 }, 0],
  ['returned',  { waiting: 1, inFlight: 0 }, 0],
  ['refused',   { waiting: 1, inFlight: 0 }, 0],
  ['unknown',   { waiting: 0, inFlight: 1 }, 1],
] as const)('a message that is %s leaves its task %j; its lease brings back %i', async (outcome, counters, lapsed) => {
  const { offer, frontier, runs, releaser, clock, step } = await setup({ answer: () => outcome });
  await offer('http://a.test/1');
  await releaser.start();
  await step(0);
  await releaser.stop();
  expect(await runs.progress('r')).toMatchObject(counters);
  clock.step(60_000);
  expect(await frontier.reap()).toBe(lapsed);
  expect(await runs.progress('r')).toMatchObject({ discovered: 1, failed: 0 });
});

test('a task that can no longer be released is dead-lettered, then settled', async () => {
  const { releaser, frontier, runs, transport, clock } = await setup();
  await frontier.offer('r', [
    offerOf('http://a.test/1', { deadlineMs: 1_000 }),
    { malformed: 'htp://x', problem: 'its scheme is htp' },
  ]);
  clock.step(1_000);
  await releaser.fill();
  const letters = (await transport.browse(9)).map(({ body }) => readDeadLetter(body));
  expect(letters.map((letter) => [letter?.url, letter?.reason, letter?.error]).toSorted()).toEqual([
    ['htp://x', 'malformed', 'its scheme is htp'],
    ['http://a.test/1', 'deadline', `its deadline was ${new Date(clock.now()).toISOString()}`],
  ]);
  expect(await runs.progress('r')).toMatchObject({
    failed: 2,
    inFlight: 0,
    reasons: { failed: { deadline: 1, malformed: 1 } },
  });
});

test.each(['returned', 'refused', 'unknown'] satisfies PublishOutcome[])(
  'a dead letter that is %s: the task is not settled as failed, but waits again',
  async (outcome) => {
    const { releaser, frontier, runs, step } = await setup({ answer: () => outcome });
    await frontier.offer('r', [{ malformed: 'htp://x', problem: 'its scheme is htp' }]);
    await releaser.start();
    await step(0);
    await releaser.stop();
    expect(await runs.progress('r')).toMatchObject({ failed: 0, waiting: 1, inFlight: 0 });
  },
);

test.each([
  ['tried', { kind: 'retry', reason: 'timeout', inMs: 1_000 }],
  ['asked to slow down', { kind: 'defer', host: { pauseMs: 1_000, reason: 'HTTP 429' } }],
] as const)('dead letters of a host that is down list the attempts of a task that was only %s', async (_, outcome) => {
  const { releaser, frontier, transport, clock, offer } = await setup();
  await offer('http://a.test/1');
  const note = { at: clock.now(), worker: 'w', reason: 'the reason' };
  for (let release = 1; release <= 2; release++) {
    const [released] = (await frontier.release(EVERYTHING)).tasks;
    if (released === undefined) throw new Error('nothing was released');
    await frontier.settle('r', nameOf(released), { outcome, hostAnswered: false, attempt: note });
    clock.step(release === 1 ? 599_000 : 1_000);
  }
  await releaser.fill();
  const [letter] = await transport.browse(1);
  expect(readDeadLetter(letter?.body ?? new Uint8Array())).toMatchObject({
    reason: 'host_down',
    attempts: [note, note],
  });
});

test('while nothing can be published, nothing is leased', async () => {
  const { releaser, offer, broker, calls, runs, step, published } = await setup();
  await offer('http://a.test/1');
  broker.trouble = 'blocked: low on memory';
  await releaser.start();
  for (let i = 0; i < 10; i++) await step(250);
  await releaser.fill();
  expect([calls.release, (await runs.progress('r'))?.waiting]).toEqual([0, 1]);
  broker.trouble = undefined;
  for (let i = 0; i < 5; i++) await step(250);
  expect(published.length).toBe(1);
});

test('while one queue is full, tasks of the other are released', async () => {
  const { releaser, frontier, broker, published, runs, step } = await setup({
    answer: ({ to }) => (to === 'normal' ? 'refused' : 'confirmed'),
  });
  await frontier.offer('r', [offerOf('http://a.test/1'), offerOf('http://news.test/1', { queue: 'priority' })]);
  broker.trouble = 'full';
  await releaser.start();
  await step(0);
  expect(published.map(({ to }) => to)).toEqual(['priority']);
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 1 });
});

test('a task whose failure cannot be recorded is put back, with neither a dead letter nor a settle as failed', async () => {
  const world = await setup();
  const { frontier, runs, transport, clock } = world;
  const deadlineMs = 1_000;
  await frontier.offer(
    'r',
    [1, 2].map((n) => offerOf(`http://a.test/${n}`, { deadlineMs })),
  );
  clock.step(deadlineMs);
  const releaser = releaserOf({
    ...world,
    onFailure: async ({ task }) => {
      if (task.url === 'http://a.test/1') throw new Error('the disk is full');
    },
  });
  await releaser.fill();
  const letters = (await transport.browse(9)).map(({ body }) => readDeadLetter(body)?.url);
  expect(letters).toEqual(['http://a.test/2']);
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 0, failed: 1 });
});

test('a paced host is fed at its pace', async () => {
  const { releaser, offer, published, step, work } = await setup({ intervalMs: 500 });
  await work(4);
  await offer(...urls(1, 100));
  await releaser.start();
  const counts: number[] = [];
  for (let second = 0; second < 5; second++) {
    for (let ms = 0; ms < 1_000; ms += 50) await step(50);
    counts.push(published.length);
  }
  expect(counts.slice(1).map((count, i) => count - (counts[i] ?? 0))).toEqual([2, 2, 2, 2]);
  expect(counts[0]).toBeLessThanOrEqual(5);
});

// biome-ignore format: a table
test.each([
  ['no worker is alive',              undefined, [],         1_000],
  ['few slots',                       undefined, [4],        1_000],
  ['many slots: four for each',       undefined, [200, 200], 1_600],
  ['as RELEASE_WINDOW says',          70,        [200, 200], 70],
])('the window: %s', async (_, window, slots, size) => {
  const { releaser, frontier, roster, published } = await setup(window === undefined ? {} : { window });
  for (const [i, count] of slots.entries()) {
    await roster.beat({ id: `w-${i}`, host: 'h', version: '1', slots: count, inHand: 0, bound: 'slots', state: 'consuming' });
  }
  await offerAll(frontier, 'r', urls(1, 2_000).map((url) => offerOf(url)));
  await releaser.fill();
  expect(published.length).toBe(size);
});

test('without a worker a new run is released without waiting for pace; once one is alive, at its pace', async () => {
  const { releaser, offer, published, work, clock } = await setup({ intervalMs: 60_000 });
  await offer(...urls(1, 300));
  await releaser.fill();
  expect(published.length).toBe(300);
  await work(32);
  clock.step(5_001);
  await offer(...urls(301, 600));
  await releaser.fill();
  expect(published.length).toBeLessThanOrEqual(301);
});

test('once stopped, it releases nothing; stop waits for what it has begun', async () => {
  const { promise: confirmed, resolve } = Promise.withResolvers<void>();
  const world = await setup();
  const { frontier, runs, clock, offer, calls, step } = world;
  const transport = withMethods(world.transport, {
    publish: async (messages) => {
      await confirmed;
      return messages.map(() => 'confirmed');
    },
  });
  const releaser = releaserOf({ ...world, transport });
  await offer('http://a.test/1');
  await releaser.start();
  await settled();
  let isOver = false;
  const stopped = releaser.stop().then(() => {
    isOver = true;
  });
  await settled();
  expect(isOver).toBe(false);
  resolve();
  await stopped;
  await offer('http://a.test/2');
  releaser.nudge();
  await step(10_000);
  expect([(await runs.progress('r'))?.waiting, calls.release]).toEqual([1, 0]);
  clock.step(60_000);
  expect(await frontier.reap(), 'its lease was made that of a queue').toBe(0);
});

test('a task refused by a queue is not published again at once', async () => {
  const { offer, releaser, calls, step } = await setup({ answer: () => 'refused' });
  await offer('http://a.test/1');
  await releaser.start();
  for (let passedMs = 0; passedMs < 3_000; passedMs += 10) await step(10);
  expect(calls.release).toBeLessThanOrEqual(4);
});

test('a producer gives up filling a queue that takes nothing', async () => {
  const { offer, releaser, runs } = await setup({ answer: () => 'refused' });
  await offer('http://a.test/1');
  await releaser.fill();
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 0 });
});

test('a task that the broker refuses as too large waits a minute, and holds up no others', async () => {
  const { releaser, offer, published, runs, log, step } = await setup({
    answer: ({ body }) => (body.length > 1_000 ? 'too_large' : 'confirmed'),
  });
  await offer(`http://a.test/${'x'.repeat(2_000)}`, ...urls(1, 3));
  await releaser.fill();
  expect(published.length).toBe(3);
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 3 });
  await releaser.start();
  for (let i = 0; i < 30; i++) await step(1_000);
  const told = () => log.lines.filter((line) => JSON.stringify(line).includes('max_message_size')).length;
  expect(told()).toBe(1);
  for (let i = 0; i < 40; i++) await step(1_000);
  expect(told()).toBe(2);
});
