import { expect, onTestFinished, test } from 'vitest';
import { idOf } from '../../../../shared/task/task/task.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { releaserOf } from '../../../support/stores/embedded.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { setup, urls } from './setup.ts';

test('a frontier that can not be reached is tried again every second', async () => {
  const world = await setup();
  let asked = 0;
  const frontier = withMethods(world.frontier, {
    release: () => {
      asked++;
      return Promise.reject(new Error('Redis is away'));
    },
  });
  const { log, step } = world;
  const releaser = releaserOf({ ...world, frontier });
  onTestFinished(() => releaser.stop());
  await releaser.start();
  for (let ms = 0; ms < 3_000; ms += 100) await step(100);
  expect([asked, log.lines]).toEqual([4, Array(4).fill('warn: releasing failed, trying again Redis is away')]);
});

test('an idle releaser looks four times a second, and a nudge hurries it', async () => {
  const { releaser, offer, calls, step, published } = await setup();
  await releaser.start();
  for (let ms = 0; ms < 10_000; ms += 10) await step(10);
  expect(calls.release).toBeGreaterThanOrEqual(38);
  expect(calls.release).toBeLessThanOrEqual(41);
  await offer('http://a.test/1');
  await step(20);
  const before = calls.release;
  releaser.nudge();
  await step(0);
  expect([calls.release - before, published.length]).toEqual([1, 1]);
});

test('nudges without end make it no busier than one look in 10 ms', async () => {
  const { releaser, calls, step } = await setup();
  await releaser.start();
  for (let ms = 0; ms < 1_000; ms++) {
    releaser.nudge();
    await step(1);
  }
  expect(calls.release).toBeLessThanOrEqual(101);
  expect(calls.release).toBeGreaterThan(50);
});

test('200 releasers with a full window look as often as a few, and who looked last may die', async () => {
  const world = await setup({ window: 10 });
  const { frontier, roster, offer, step, calls, published } = world;
  const watched = withMethods(frontier, {
    release: async (options) => {
      calls.release++;
      return await frontier.release(options);
    },
  });
  for (let n = 0; n < 200; n++) {
    await roster.beat({
      id: `w-${n}`,
      host: 'h',
      version: '1',
      slots: 32,
      inHand: 0,
      bound: 'slots',
      state: 'consuming',
    });
  }
  await offer(...urls(1, 50));
  const transport = withMethods(world.transport, {
    publish: async (messages) => {
      published.push(...messages);
      return messages.map(() => 'confirmed');
    },
    trouble: () => undefined,
  });
  const chance = new SeededRandom(1);
  const random = (): number => chance.next();
  const others = { ...world, frontier: watched, transport, random, window: 10 };
  const releasers = Array.from({ length: 200 }, () => releaserOf(others));
  onTestFinished(async () => {
    await Promise.all(releasers.map((releaser) => releaser.stop()));
  });
  await Promise.all(releasers.map((releaser) => releaser.start()));
  for (let ms = 0; ms < 3_000; ms += 5) await step(5);
  calls.release = 0;
  for (let ms = 0; ms < 2_000; ms += 5) await step(5);
  expect(calls.release / 2, 'looks a second').toBeLessThanOrEqual(300);
  expect(published.length).toBe(10);
  // All but a few die with whoever looks, and others go on.
  await Promise.all(releasers.slice(0, 190).map((releaser) => releaser.stop()));
  for (const { id, headers } of published.slice(0, 10)) {
    const release = headers['x-release'] ?? 0;
    const mark = (await frontier.markOf('r', release)) ?? '';
    expect(idOf({ run: 'r', mark })).toBe(id);
    await frontier.settle('r', { release, mark }, { outcome: { kind: 'done' } });
  }
  for (let ms = 0; ms < 1_000; ms += 5) await step(5);
  expect(published.length).toBe(20);
});
