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

test('endless nudges cause at most one look in 10 ms', async () => {
  const { releaser, calls, step } = await setup();
  await releaser.start();
  for (let ms = 0; ms < 1_000; ms++) {
    releaser.nudge();
    await step(1);
  }
  expect(calls.release).toBeLessThanOrEqual(101);
  expect(calls.release).toBeGreaterThan(50);
});

test('the window follows the slots of workers: within half a second while they change, otherwise within five', async () => {
  const world = await setup();
  const { work, step } = world;
  let reads = 0;
  const windows: number[] = [];
  const frontier = withMethods(world.frontier, {
    release: async (options) => {
      windows.push(options.window);
      return await world.frontier.release(options);
    },
  });
  const roster = withMethods(world.roster, {
    capacity: async () => {
      reads++;
      return await world.roster.capacity();
    },
  });
  const releaser = releaserOf({ ...world, frontier, roster });
  onTestFinished(() => releaser.stop());
  await releaser.start();
  const after = async (slots: number, ms: number): Promise<number | undefined> => {
    await work(slots);
    for (let passed = 0; passed < ms; passed += 50) await step(50);
    return windows.at(-1);
  };
  expect([await after(500, 1_250), await after(1_000, 750), await after(2_000, 750)]).toEqual([2_000, 4_000, 8_000]);
  reads = 0;
  expect([await after(2_000, 10_000), reads < 6, await after(100, 6_000)]).toEqual([8_000, true, 1_000]);
  world.clock.set(-3_600_000);
  expect(await after(500, 6_000), 'the machine’s clock was set back').toBe(2_000);
});

test('200 releasers with a full window look as often as a few, even if the last one to look dies', async () => {
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
