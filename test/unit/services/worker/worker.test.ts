import { expect, onTestFinished, test } from 'vitest';
import { Worker, type WorkerOptions } from '../../../../services/worker/worker.ts';
import type { Transport, TransportTrouble } from '../../../../shared/ports/transport.ts';
import { releaserOf, settled } from '../../../support/stores/embedded.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { setup as setupParts } from './setup.ts';

type World = Awaited<ReturnType<typeof setupParts>>;

/** A worker made of a world's parts, not started. */
function workerOf(world: World, changed: Partial<WorkerOptions> = {}): Worker {
  const { frontier, roster, parts } = world;
  const own = { version: '1', crawlers: {}, fetchTimeoutMs: 30_000, concurrency: 2 };
  const worker = new Worker({ ...parts, frontier, roster, ...own, ...changed });
  onTestFinished(async () => {
    worker.abort();
    await worker.stop();
  });
  return worker;
}

/** A worker that has not started, and a releaser that the test drives. */
async function setup(changed: Partial<WorkerOptions> = {}) {
  const world = await setupParts();
  const { transport, roster } = world;
  const worker = workerOf(world, { concurrency: 4, ...changed });
  return {
    ...world,
    worker,
    releaser: releaserOf(world),
    ready: async () => (await transport.depths()).normal.ready,
    states: async () => (await roster.workers()).map(({ state }) => state),
    /** Resolves once the run's progress matches `counters`. */
    becomes: (counters: object) => expect.poll(() => world.runs.progress('r'), { interval: 5 }).toMatchObject(counters),
  };
}

const PAGES = Array.from({ length: 20 }, (_, i) => `/page/${i + 1}`);

test('a worker turns deliveries into records until the run is finished', async () => {
  const { worker, offer, releaser, runs, becomes, sink, states } = await setup();
  await worker.start();
  expect([worker.state, await states()]).toEqual(['consuming', ['consuming']]);
  await offer(...PAGES);
  await runs.seal('r', 'p');
  await releaser.fill();
  await becomes({ state: 'finished', done: 20 });
  expect(new Set(sink.records.map(({ url }) => url)).size).toBe(20);
  await worker.stop();
  expect([worker.inHand, await states()]).toEqual([0, []]);
});

test('`onWorking` is called when the worker starts, and the function it returned when the worker has stopped', async () => {
  const told: (string | number)[] = [];
  const onWorking = (inHand: () => number) => {
    told.push(inHand());
    return () => void told.push('ended');
  };
  const { worker } = await setup({ onWorking });
  expect(told).toEqual([]);
  await worker.start();
  expect(told).toEqual([0]);
  await worker.stop();
  expect(told).toEqual([0, 'ended']);
});

test('when the sink fails, consuming stops without losing a task, and resumes once records can be stored', async () => {
  const { worker, offer, releaser, becomes, sink, states, ready, clock, log, site } = await setup();
  await worker.start();
  sink.failure = new Error('no space left');
  await offer(...PAGES);
  await releaser.fill();
  await expect.poll(states).toEqual(["waiting: records can't be stored: no space left"]);
  expect(worker.inHand).toBe(0);
  const asked = site.requests.length;
  expect(asked).toBeLessThanOrEqual(5);
  expect(await ready(), 'those not begun went back').toBe(20 - asked);
  await becomes({ done: 0, failed: 0, waiting: asked, inFlight: 20 - asked });
  expect(log.lines.filter((line) => line.startsWith('error'))).toEqual([
    "error: records can't be stored: not consuming no space left",
  ]);
  clock.step(9_999);
  await settled();
  expect(worker.state).toContain('waiting');
  sink.failure = undefined;
  clock.step(1);
  await expect.poll(states).toEqual(['consuming']);
  await releaser.fill();
  await becomes({ done: 20, failed: 0, waiting: 0, inFlight: 0 });
  expect(log.lines.filter((line) => line.includes('can be stored'))).toEqual(['info: records can be stored again']);
  expect(new Set(sink.records.map(({ attempt }) => attempt))).toEqual(new Set([1]));
});

test('a sink that keeps failing is tried again every 10 s', async () => {
  const { worker, offer, releaser, sink, clock, becomes, log } = await setup({ concurrency: 1 });
  await worker.start();
  sink.failure = new Error('no space left');
  await offer(...PAGES);
  await releaser.fill();
  for (let round = 1; round <= 3; round++) {
    await expect.poll(() => log.lines.filter((line) => line.startsWith('error')).length).toBe(round);
    await expect.poll(() => worker.state).toContain('waiting');
    await expect.poll(() => worker.inHand).toBe(0);
    clock.step(10_000);
    await releaser.fill();
  }
  await becomes({ done: 0, failed: 0 });
});

test('a suspended worker finishes the page in hand and takes nothing new until it is resumed', async () => {
  const { worker, offer, releaser, becomes, site, ready, states } = await setup({ concurrency: 1 });
  const { promise: answer, resolve } = Promise.withResolvers<void>();
  site.on('/slow', async (_, response) => {
    await answer;
    response.setHeader('content-type', 'text/html').end('<title>slow</title>');
  });
  await worker.start();
  await offer('/slow', '/page/1', '/page/2');
  await releaser.fill();
  await site.arrival('/slow');
  const suspended = worker.suspend('Redis');
  await expect.poll(ready).toBe(2);
  expect([worker.state, worker.inHand]).toEqual(['waiting: Redis', 1]);
  resolve();
  await suspended;
  await becomes({ done: 1, inFlight: 2 });
  expect([await states(), site.requests.length]).toEqual([['waiting: Redis'], 1]);
  await worker.resume('Redis');
  await becomes({ done: 3 });
});

test('a worker with two troubles at once waits until both are over', async () => {
  const { worker, offer, releaser, becomes, sink, clock, site } = await setup();
  await worker.start();
  sink.failure = new Error('no space left');
  await offer('/page/1');
  await releaser.fill();
  await expect.poll(() => worker.state).toContain('no space left');
  await worker.suspend('Redis');
  expect(worker.state).toBe("waiting: records can't be stored: no space left, Redis");
  sink.failure = undefined;
  clock.step(10_000);
  await expect.poll(() => worker.state).toBe('waiting: Redis');
  await releaser.fill();
  await settled();
  expect([worker.state, site.requests.length]).toEqual(['waiting: Redis', 1]);
  await worker.resume('Redis');
  await becomes({ done: 1 });
});

test('a trouble that ends before the worker reacts to it changes nothing', async () => {
  const { worker, log } = await setup();
  await worker.start();
  await Promise.all([worker.suspend('Redis'), worker.resume('Redis')]);
  expect([worker.state, log.lines]).toEqual(['consuming', []]);
});

test('a stopped worker stays stopped when Redis or the sink comes back', async () => {
  const { worker, offer, releaser, sink, clock, ready, states } = await setup();
  await worker.start();
  await worker.suspend('Redis');
  sink.failure = new Error('no space left');
  await worker.stop();
  await worker.resume('Redis');
  clock.step(60_000);
  await offer('/page/1');
  await releaser.fill();
  await settled();
  expect([worker.state, await ready(), await states()]).toEqual(['stopping', 1, []]);
  await worker.stop();
});

test('stop finishes the pages in hand and gives the other deliveries back', async () => {
  const { worker, offer, releaser, site, ready, runs, sink } = await setup({ concurrency: 2 });
  const { promise: answer, resolve } = Promise.withResolvers<void>();
  for (const path of PAGES) {
    site.on(path, async (_, response) => {
      await answer;
      response.setHeader('content-type', 'text/html').end('<title>slow</title>');
    });
  }
  await worker.start();
  await offer(...PAGES);
  await releaser.fill();
  await Promise.all([site.arrival('/page/1'), site.arrival('/page/2')]);
  let isOver = false;
  const stopped = worker.stop().then(() => {
    isOver = true;
  });
  await expect.poll(ready).toBe(18);
  expect([isOver, worker.inHand]).toEqual([false, 2]);
  resolve();
  await stopped;
  expect(sink.records.length).toBe(2);
  expect(await runs.progress('r')).toMatchObject({ done: 2, waiting: 0, inFlight: 18 });
});

test('aborting a stop puts the pages under way back without counting an attempt', async () => {
  const { worker, offer, releaser, site, runs } = await setup();
  await worker.start();
  await offer('/hang', '/drip');
  await releaser.fill();
  await Promise.all([site.arrival('/hang'), site.arrival('/drip')]);
  const stopped = worker.stop();
  worker.abort();
  await stopped;
  expect(await runs.progress('r')).toMatchObject({ waiting: 2, inFlight: 0, failed: 0 });
});

test('a delivery goes back when the store fails, and is processed when it comes again', async () => {
  const world = await setupParts();
  let failures = 3;
  const frontier = withMethods(world.frontier, {
    admit: (...args) => (failures-- > 0 ? Promise.reject(new Error('Redis is away')) : world.frontier.admit(...args)),
  });
  const { clock, log } = world;
  await workerOf(world, { frontier }).start();
  await world.offer('/page/1');
  await releaserOf(world).fill();
  const later = async () => {
    clock.step(1_000);
    return await world.runs.progress('r');
  };
  await expect.poll(later).toMatchObject({ done: 1 });
  expect(log.lines.filter((line) => line.includes('Redis is away')).length).toBe(3);
});

test('a returned delivery keeps its slot for a moment, so that it does not spin between broker and worker', async () => {
  const world = await setupParts();
  const frontier = withMethods(world.frontier, { admit: () => Promise.reject(new Error('Redis is away')) });
  const { clock, log } = world;
  await workerOf(world, { frontier }).start();
  await world.offer('/page/1');
  await releaserOf(world).fill();
  for (let passedMs = 0; passedMs < 3_000; passedMs += 100) {
    await settled();
    clock.step(100);
  }
  const tries = log.lines.filter((line) => line.includes('Redis is away')).length;
  expect(tries).toBeGreaterThanOrEqual(2);
  expect(tries).toBeLessThanOrEqual(4);
});

test('a worker whose consumers have lost the broker reports it in its beat', async () => {
  const world = await setupParts();
  const transport = withMethods(world.transport, {
    consume: async () => ({ stop: async () => {}, consuming: false }),
  });
  await workerOf(world, { transport, version: '7', crawlers: { shop: '01234567' } }).start();
  expect(await world.roster.workers()).toMatchObject([
    { id: 'w-1', version: '7', crawlers: { shop: '01234567' }, slots: 2, inHand: 0, state: 'waiting: broker' },
  ]);
});

test('a worker whose broker is blocked or whose queue is full reports it in its beat', async () => {
  const world = await setupParts();
  const told = async (trouble?: TransportTrouble): Promise<unknown> => {
    const worker = workerOf(world, { transport: withMethods<Transport>(world.transport, { trouble: () => trouble }) });
    await worker.start();
    const [{ brokerTrouble } = {}] = await world.roster.workers();
    await worker.stop();
    return brokerTrouble;
  };
  expect(await told('blocked: low on memory')).toBe('blocked: low on memory');
  expect(await told('full')).toBe('full');
  expect(await told()).toBeUndefined();
});

test('a worker starts and consumes although the roster can’t be reached', async () => {
  const world = await setupParts();
  const fails = (): Promise<never> => Promise.reject(new Error('Redis is away'));
  const roster = withMethods(world.roster, { beat: fails, leave: fails });
  const worker = workerOf(world, { roster });
  await worker.start();
  expect(worker.state).toBe('consuming');
  await worker.stop();
  expect(world.log.lines[0]).toBe('warn: the beat could not be sent Redis is away');
});

test('a worker stopped before its start never starts', async () => {
  const { worker } = await setup();
  await worker.stop();
  await worker.start();
  expect(worker.state).toBe('stopping');
});

test('messages for other programs don’t keep pages from being fetched', async () => {
  const { worker, offer, releaser, becomes, transport, ready, clock } = await setup();
  const foreign = Array.from(
    { length: 50 },
    (_, i) => ({ to: 'normal', id: `${i}`, body: '{"v":3}', headers: {} }) as const,
  );
  await transport.publish(foreign);
  await offer(...PAGES);
  await releaser.fill();
  await worker.start();
  const time = setInterval(() => clock.step(5), 1);
  onTestFinished(() => clearInterval(time));
  await becomes({ done: 20 });
  clearInterval(time);
  await worker.stop();
  expect(await ready(), 'all still queued').toBe(50);
});

test('a worker whose slots double subscribes again with a larger prefetch and loses no task', async () => {
  const meter = {
    start: () => {},
    stop: () => {},
    read: () => ({ utilization: 0.5, loopDelayMs: 0, memoryShare: 0.1 }),
  };
  const { worker, offer, releaser, becomes, roster, runs, transport } = await setup({ concurrency: 'auto', meter });
  await worker.start();
  expect(worker.slots).toBe(64);
  for (const half of [0, 1]) await offer(...Array.from({ length: 400 }, (_, n) => `/slow/400?n=${half}-${n}`));
  await runs.seal('r', 'p');
  const releasing = setInterval(() => void releaser.fill(), 20);
  onTestFinished(() => clearInterval(releasing));
  await expect.poll(() => worker.slots).toBeGreaterThanOrEqual(256);
  await expect.poll(async () => (await roster.workers())[0]?.slots).toBeGreaterThanOrEqual(256);
  await expect.poll(() => worker.inHand).toBeGreaterThan(160);
  await expect.poll(() => runs.progress('r')).toMatchObject({ state: 'finished', done: 800 });
  await becomes({ discovered: 800 });
  expect((await transport.depths()).normal.consumers).toBe(1);
});
