import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { BodyMemory } from '../../../../../shared/fetchers/body-memory.ts';
import { allowing } from '../../../../support/allowing.ts';
import { openLane } from '../../../../support/lane.ts';
import { withMethods } from '../../../../support/with-methods.ts';
import { deliver, setup } from '../setup.ts';

/** A worker's parts, with a fetcher whose body memory the test can read. */
async function setupMemory(...given: Parameters<typeof setup>) {
  const world = await setup(...given);
  const bodyMemory = new BodyMemory(1_000_000);
  const fetcher = openLane({
    ...{ timeoutMs: 5_000, userAgent: 'TrawlBot/0 (test)', allowedPrivate: allowing('127.0.0.0/8') },
    bodyMemory,
  });
  onTestFinished(() => fetcher.stop());
  return { ...world, bodyMemory, fetcher };
}

test('a page takes body memory until its record is stored', async () => {
  const world = await setupMemory();
  const { bodyMemory, fetcher, sink, pipeline } = world;
  const atPut: number[] = [];
  const watched = withMethods(sink, {
    put: async (record) => {
      atPut.push(bodyMemory.usedBytes);
      await sink.put(record);
    },
  });
  const delivery = await deliver(world, '/big?bytes=50000');
  expect(await pipeline({ fetcher, sink: watched }).handle(delivery)).toBe('ack');
  expect([atPut, bodyMemory.usedBytes]).toEqual([[50_000], 0]);
});

test.each(['step', 'sink'])('a page that fails in its %s frees its body memory', async (where) => {
  const crawler = defineCrawler({
    name: 'failing',
    step: () => {
      if (where === 'step') throw new Error('no');
      return { data: null };
    },
  });
  const world = await setupMemory({ crawler });
  const { bodyMemory, fetcher, sink, pipeline } = world;
  if (where === 'sink') sink.failure = new Error('the disk is full');
  await pipeline({ fetcher }).handle(await deliver(world, '/big?bytes=50000'));
  expect(world.site.count('/big?bytes=50000')).toBe(1);
  expect(bodyMemory.usedBytes).toBe(0);
});

test('time a request waits for its own process does not slow its host', async () => {
  const world = await setupMemory();
  const { fetcher, gate, pipeline } = world;
  const took: (number | undefined)[] = [];
  const slow = withMethods(fetcher, {
    fetch: async (request) => {
      await sleep(300);
      if (request.timings !== undefined) request.timings.waitedMs += 300;
      return await fetcher.fetch(request);
    },
  });
  const watched = withMethods(gate, {
    leave: async (...given) => {
      took.push(given[3]?.durationMs);
      await gate.leave(...given);
    },
  });
  await pipeline({ fetcher: slow, gate: watched }).handle(await deliver(world, '/page/1'));
  expect(took).toEqual([expect.any(Number)]);
  expect(took[0]).toBeLessThan(250);
});

/** A crawler whose first page owns a group with one part. `seen` is called inside the join. */
function joined(seen: () => void) {
  return defineCrawler({
    name: 'joined',
    steps: {
      start: { to: ['part'], run: ({ follow }) => follow('part', '/page/2') },
      part: { run: ({ emit }) => emit({ text: 'ä'.repeat(50_000) }) },
    },
    joins: {
      sum: {
        per: 'start',
        of: ['part'],
        run: ({ inputs, emit }) => {
          seen();
          emit({ parts: inputs.length });
        },
      },
    },
  });
}

async function setupJoin(seen: (memory: () => BodyMemory) => void) {
  let world: Awaited<ReturnType<typeof setupMemory>> | undefined;
  const crawler = joined(() => seen(() => (world as NonNullable<typeof world>).bodyMemory));
  const { joinPlan } = crawler;
  world = await setupMemory({ crawler, run: joinPlan === undefined ? {} : { joins: joinPlan } });
  const pipeline = world.pipeline({ fetcher: world.fetcher });
  await pipeline.handle(await deliver(world, '/page/1'));
  for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  const [join] = await world.deliveries();
  if (join === undefined) throw new Error('the join was not released');
  return { ...world, worked: pipeline, join };
}

test('the inputs of a join take body memory while it runs', async () => {
  const inJoin: number[] = [];
  const { bodyMemory, worked, join, sink } = await setupJoin((memory) => inJoin.push(memory().usedBytes));
  expect(await worked.handle(join)).toBe('ack');
  expect(sink.records.at(-1)).toMatchObject({ step: 'sum', outcome: 'done', data: { parts: 1 } });
  expect(inJoin).toEqual([expect.any(Number)]);
  // Two bytes a letter, and little besides.
  expect(inJoin[0]).toBeGreaterThan(100_000);
  expect(inJoin[0]).toBeLessThan(101_000);
  expect(bodyMemory.usedBytes).toBe(0);
});

test('a join whose inputs don’t fit into body memory waits for room, as a page does', async () => {
  let hasRun = false;
  const { bodyMemory, fetcher, worked, join, sink } = await setupJoin(() => {
    hasRun = true;
  });
  const page = await fetcher.reserve(900_000);
  const handled = worked.handle(join);
  while (fetcher.waitingForMemory === 0) await sleep(5);
  expect([hasRun, bodyMemory.usedBytes]).toEqual([false, 900_000]);
  page.close();
  expect(await handled).toBe('ack');
  expect(sink.records.at(-1)).toMatchObject({ step: 'sum', outcome: 'done' });
  expect([bodyMemory.usedBytes, fetcher.waitingForMemory]).toEqual([0, 0]);
});
