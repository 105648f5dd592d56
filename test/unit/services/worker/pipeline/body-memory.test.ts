import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { BodyMemory } from '../../../../../shared/fetchers/body-memory.ts';
import { allowing } from '../../../../support/allowing.ts';
import { openLane } from '../../../../support/lane.ts';
import { withMethods } from '../../../../support/with-methods.ts';
import { deliver, setup } from '../setup.ts';

/** A worker's parts whose fetcher has memory for bodies that the test can look at. */
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

test('a page counts until its record is stored, and no longer', async () => {
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

test.each(['step', 'sink'])('nothing counts of a page that fails in its %s', async (where) => {
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

test('what a request waited for its own process does not slow its host', async () => {
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
