import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RequestTimings } from '../../../../../shared/ports/fetcher.ts';
import type { RequestEnd } from '../../../../../shared/ports/host-gate.ts';
import { withMethods } from '../../../../support/with-methods.ts';
import { deliver, setup } from '../setup.ts';

/** A worker's parts whose connections take 100 ms, and whose answers come 50 ms later; with what the gate hears. */
async function setupLate() {
  const world = await setup({ run: { intervalMs: 500 } });
  const ends: (RequestEnd | undefined)[] = [];
  const gate = withMethods(world.gate, {
    leave: async (...given) => {
      ends.push(given[3]);
      await world.gate.leave(...given);
    },
  });
  const connect = async (timings: RequestTimings | undefined): Promise<void> => {
    await sleep(100);
    if (timings !== undefined) timings.connectedAt = performance.now();
    await sleep(50);
  };
  const { fetcher } = world.parts;
  const late = withMethods(fetcher, {
    fetch: async ({ timings, ...request }) => {
      await connect(timings);
      return await fetcher.fetch(request);
    },
    open: async ({ timings, ...request }) => {
      await connect(timings);
      return await fetcher.open(request);
    },
  });
  return { ...world, ends, late: { fetcher: late, gate } };
}

function expectLate(ends: readonly (RequestEnd | undefined)[]): void {
  expect(ends).toEqual([{ durationMs: expect.any(Number), isFailure: false, sentAgoMs: expect.any(Number) }]);
  const { durationMs = 0, sentAgoMs = 0 } = ends[0] ?? {};
  expect(durationMs).toBeGreaterThanOrEqual(145);
  expect(sentAgoMs).toBeGreaterThanOrEqual(45);
  expect(durationMs - sentAgoMs, 'it was sent when it was connected').toBeGreaterThanOrEqual(95);
}

test('a page whose connection is late: the gate hears when it was asked for', async () => {
  const world = await setupLate();
  expect(await world.pipeline(world.late).handle(await deliver(world, '/page/1'))).toBe('ack');
  expectLate(world.ends);
});

test('a robots.txt whose connection is late: the gate hears when it was asked for', async () => {
  const world = await setupLate();
  const { signal } = world.abort;
  const candidate = { url: world.site.url('/page/1'), host: world.site.host, intervalMs: 500, signal };
  expect(await world.robots(world.late).permit(candidate, undefined)).toMatchObject({ kind: 'allow' });
  expectLate(world.ends);
});
