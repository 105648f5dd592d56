import { expect, onTestFinished, test, vi } from 'vitest';
import { Slots } from '../../../../../../services/worker/concurrency/slots.ts';
import { allowing } from '../../../../../support/allowing.ts';
import { openLane } from '../../../../../support/lane.ts';
import { EVERYTHING } from '../../../../../support/stores/embedded.ts';
import { deliver, setup } from '../../setup.ts';

test('a host that never answers makes room for a new one, and its page waits without counting an attempt', async () => {
  const world = await setup();
  const { site } = world;
  const fetcher = openLane({
    timeoutMs: 5_000,
    userAgent: 'TrawlBot/0 (test)',
    allowedPrivate: allowing('127.0.0.0/8'),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  onTestFinished(() => fetcher.stop());
  const slots = new Slots(2);
  const pipeline = world.pipeline({ fetcher, slots });
  const silent = pipeline.handle(await deliver(world, `http://silent.test:${site.port}/hang`));
  await site.arrival('/hang');
  const now = performance.now.bind(performance);
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 2_000);
  onTestFinished(() => later.mockRestore());
  await pipeline.handle(await deliver(world, `http://new.test:${site.port}/page/1`));
  await silent;
  expect(await world.runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 0, done: 1 });
  expect(slots.takeShortage(), 'a shortage is noted').toBe(true);
  expect((await world.frontier.release(EVERYTHING)).tasks, 'it rests').toEqual([]);
  world.clock.step(15_000);
  expect((await world.frontier.release(EVERYTHING)).tasks).toMatchObject([{ state: { attempts: 0 } }]);
});

test('a slow host that has answered for its robots.txt is not silent and keeps its slot', async () => {
  const world = await setup();
  const { site } = world;
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  site.on('/slow', async (_, response) => {
    await mayAnswer;
    response.setHeader('content-type', 'text/html').end('slow');
  });
  const slots = new Slots(2);
  const pipeline = world.pipeline({ slots, robots: world.robots() });
  const slow = pipeline.handle(await deliver(world, '/slow'));
  await site.arrival('/slow');
  const now = performance.now.bind(performance);
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 2_000);
  onTestFinished(() => later.mockRestore());
  const other = await deliver(world, `http://localhost:${site.port}/page/1`);
  await pipeline.handle(other);
  expect(slots.takeShortage()).toBe(false);
  answer();
  await slow;
  expect(await world.runs.progress('r')).toMatchObject({ waiting: 0, inFlight: 0, done: 2 });
});
