import { expect, test } from 'vitest';
import type { PublishOutcome } from '../../../../../../shared/ports/transport.ts';
import { withMethods } from '../../../../../support/with-methods.ts';
import { deliver, deliveryOf, releaseOf, setup, thatAnswers } from '../../setup.ts';

test.each<[PublishOutcome, number]>([
  ['returned', 3],
  ['refused', 3],
  ['unknown', 1],
])(
  'a task whose dead letter is %s is put back after publishing it %i times, and fails once a later one is confirmed',
  async (outcome, times) => {
    const world = await setup();
    let published = 0;
    const answering = thatAnswers(world, outcome);
    const transport = withMethods(answering, {
      publish: async (messages) => {
        published++;
        return await answering.publish(messages);
      },
    });
    const pipeline = world.pipeline({ transport });
    expect(await pipeline.handle(await deliver(world, '/status/404'))).toBe('ack');
    expect(await world.runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 0, failed: 0 });
    expect(published, 'what may have arrived is not sent again').toBe(times);
    const [again] = await world.deliveries();
    if (again === undefined) throw new Error('expected it to be released again');
    expect(await world.pipeline().handle(again)).toBe('ack');
    expect(await world.runs.progress('r')).toMatchObject({
      waiting: 0,
      failed: 1,
      reasons: { failed: { http_4xx: 1 } },
    });
    expect(await world.letters()).toMatchObject([{ reason: 'http_4xx', status: 404 }]);
  },
);

test('a dead letter lists every attempt, newest first', async () => {
  const world = await setup({ run: { maxAttempts: 3 } });
  await world.offer('/status/500');
  for (let attempt = 1; attempt <= 3; attempt++) {
    for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
    world.clock.step(600_000);
  }
  const [letter] = await world.letters();
  expect(letter).toMatchObject({ run: 'r', reason: 'http_5xx', status: 500, error: 'HTTP 500' });
  expect(letter?.attempts.map(({ worker, reason, status }) => [worker, reason, status])).toEqual(
    Array(3).fill(['w-1', 'http_5xx', 500]),
  );
  expect(letter?.attempts.map(({ at }) => at)).toEqual(letter?.attempts.map(({ at }) => at).toSorted((a, b) => b - a));
});

test('a dead letter of a task that fails at its first attempt lists the answers that asked it to slow down before', async () => {
  const world = await setup({ run: { maxAttempts: 1 } });
  const statuses = [429, 404];
  world.site.on('/page', (_, response) => response.writeHead(statuses.shift() ?? 500).end());
  await world.offer('/page');
  for (let n = 0; n < 2; n++) {
    for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
    world.clock.step(600_000);
  }
  const [letter] = await world.letters();
  expect(letter?.attempts.map(({ reason, status }) => [reason, status])).toEqual([
    ['http_4xx', 404],
    ['HTTP 429', 429],
  ]);
});

test.each(['already', 'put_back'] as const)(
  'an outcome to which the frontier says `%s` is not counted as that outcome',
  async (reply) => {
    const world = await setup();
    const frontier = withMethods(world.frontier, { settle: async () => reply });
    const outcomes: string[] = [];
    const pipeline = world.pipeline({ frontier, onSettled: (outcome) => void outcomes.push(outcome) });
    await pipeline.handle(await deliver(world, '/page/1'));
    await world
      .pipeline({ onSettled: (outcome) => void outcomes.push(outcome) })
      .handle(await deliver(world, '/page/2'));
    expect(outcomes).toEqual(['defer', 'done']);
  },
);

test('a dead letter lists ten attempts at most, the last ones', async () => {
  const world = await setup({ run: { maxAttempts: 12 } });
  await world.offer('/status/500');
  const began: number[] = [];
  for (let attempt = 1; attempt <= 12; attempt++) {
    began.unshift(world.clock.now());
    for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
    world.clock.step(3_600_000);
  }
  const [letter] = await world.letters();
  expect(letter?.attempts.map(({ at }) => at)).toEqual(began.slice(0, 10));
});

test('a task past its deadline is dead-lettered without a request', async () => {
  const world = await setup();
  const url = world.site.url('/page/1');
  const task = {
    url,
    host: world.site.host,
    mark: url,
    step: '',
    depth: 0,
    queue: 'normal',
    deadlineMs: 30_000,
  } as const;
  await world.frontier.offer('r', [task]);
  const [delivery] = await world.deliveries();
  world.clock.step(30_000);
  expect(await world.pipeline().handle(delivery ?? deliveryOf(''))).toBe('ack');
  expect(await world.letters()).toMatchObject([{ reason: 'deadline' }]);
  expect(await world.runs.progress('r')).toMatchObject({ failed: 1 });
  expect(world.site.requests).toEqual([]);
});

test('a task that has killed six workers is dead-lettered as a crash loop', async () => {
  const world = await setup();
  const delivery = await deliver(world, '/page/1');
  for (let start = 0; start < 6; start++) await world.frontier.admit('r', releaseOf(delivery), 'one that dies');
  expect(await world.pipeline().handle(delivery)).toBe('ack');
  expect(await world.letters()).toMatchObject([{ reason: 'crash_loop' }]);
  expect(world.site.requests).toEqual([]);
});

test('a dead letter that is not confirmed at first is published again without fetching its page again', async () => {
  const world = await setup();
  const outcomes: PublishOutcome[] = ['refused', 'returned', 'confirmed'];
  const transport = withMethods(world.transport, {
    publish: async (messages) => {
      setImmediate(() => world.clock.step(2_000));
      const outcome = outcomes.shift() ?? 'unknown';
      if (outcome === 'confirmed') await world.transport.publish(messages);
      return [outcome];
    },
  });
  expect(await world.pipeline({ transport }).handle(await deliver(world, '/status/404'))).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ failed: 1, inFlight: 0 });
  expect(world.site.count('/status/404')).toBe(1);
});
