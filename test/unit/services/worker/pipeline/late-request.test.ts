import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RequestTimings } from '../../../../../shared/ports/fetcher.ts';
import { withMethods } from '../../../../support/with-methods.ts';
import { deliver, setup } from '../setup.ts';

const INTERVAL_MS = 500;

/** A worker's parts with connections that take 100 ms, and a gate that notes its calls in `told`. */
async function setupLate() {
  const world = await setup({ run: { intervalMs: INTERVAL_MS } });
  const told: string[] = [];
  const gate = withMethods(world.gate, {
    sentLate: async (...given) => {
      told.push('sent late');
      await world.gate.sentLate(...given);
    },
    leave: async (...given) => {
      told.push('left');
      await world.gate.leave(...given);
    },
  });
  const connect = async (timings: RequestTimings | undefined): Promise<void> => {
    await sleep(100);
    timings?.onSent();
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
  return { ...world, told, late: { fetcher: late, gate } };
}

test('the gate learns of a page request sent late as it is sent, not when its answer arrives', async () => {
  const world = await setupLate();
  expect(await world.pipeline(world.late).handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(world.told).toEqual(['sent late', 'left']);
});

test('the gate learns of a robots.txt request sent late as it is sent, not when its answer arrives', async () => {
  const world = await setupLate();
  const { signal } = world.abort;
  const candidate = { url: world.site.url('/page/1'), host: world.site.host, intervalMs: INTERVAL_MS, signal };
  expect(await world.robots(world.late).permit(candidate, undefined)).toMatchObject({ kind: 'allow' });
  expect(world.told).toEqual(['sent late', 'left']);
});
