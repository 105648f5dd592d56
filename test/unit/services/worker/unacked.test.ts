import { expect, test } from 'vitest';
import { Unacked } from '../../../../services/worker/unacked.ts';
import type { Delivery } from '../../../../shared/ports/transport.ts';
import { EVERYTHING, settled } from '../../../support/stores/embedded.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { deliveryOf, releaseOf, setup as setupParts } from './setup.ts';

async function setup() {
  const world = await setupParts();
  const { frontier, parts } = world;
  await world.offer('/page/1', '/page/2');
  const deliveries = await world.deliveries();
  const [delivery] = deliveries;
  if (delivery === undefined) throw new Error('nothing was released');
  await frontier.queued('r', deliveries.map(releaseOf));
  return { ...world, unacked: new Unacked({ ...parts, frontier }), delivery };
}

function priority(delivery: Delivery): Delivery {
  return { ...delivery, queue: 'priority' };
}

test('a delivery that arrives gets a lease of a minute, and no start is counted', async () => {
  const { unacked, delivery, frontier, clock } = await setup();
  unacked.arrived(delivery);
  unacked.arrived(deliveryOf('{}'));
  await settled();
  clock.step(60_000);
  expect(await frontier.reap(), 'the other one is queued for an hour').toBe(1);
  expect((await frontier.release(EVERYTHING)).tasks).toMatchObject([{ state: { starts: 0 } }]);
});

test('deliveries that arrive at once are noted in one call per run', async () => {
  const world = await setup();
  const calls: unknown[] = [];
  const frontier = withMethods(world.frontier, { handed: async (...call) => void calls.push(call) });
  const unacked = new Unacked({ ...world.parts, frontier });
  const arrival = (run: string, release: number): void =>
    unacked.arrived(deliveryOf(JSON.stringify({ run, url: world.site.url('/page/1') }), { release }));
  for (const release of [1, 2, 3]) arrival('r', release);
  arrival('s', 1);
  await settled();
  const mark = world.site.url('/page/1');
  const named = (...releases: number[]) => releases.map((release) => ({ release, mark }));
  expect(calls).toEqual([
    ['r', named(1, 2, 3)],
    ['s', named(1)],
  ]);
  arrival('r', 4);
  await settled();
  expect(calls.slice(2)).toEqual([['r', named(4)]]);
});

test('a delivery that was not begun waits again when put back, in one call; a stale one is dropped', async () => {
  const { parts, frontier, delivery, runs, transport } = await setup();
  let admissions = 0;
  const watched = withMethods(frontier, {
    admit: async (...call) => {
      admissions++;
      return await frontier.admit(...call);
    },
  });
  const unacked = new Unacked({ ...parts, frontier: watched });
  await unacked.putBack(delivery);
  expect(admissions).toBe(0);
  await unacked.putBack(delivery);
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 1 });
  expect((await transport.depths()).normal.ready).toBe(0);
});

test.each([
  ['a seed', deliveryOf('{"url":"http://a.test/"}', { id: 'seed' })],
  ['a task of a run that the store has lost', deliveryOf('{}', { id: 'lost:00', release: 7 })],
])('%s, which no ledger holds, is put back by publishing it again after two seconds', async (_, delivery) => {
  const { unacked, transport, clock } = await setup();
  const putBack = unacked.putBack(priority(delivery));
  await settled();
  expect((await transport.depths()).priority.ready).toBe(0);
  clock.step(2_000);
  await putBack;
  expect((await transport.depths()).priority.ready).toBe(1);
});

test('a delivery that can’t be put back because the store fails returns when its lease lapses', async () => {
  const world = await setup();
  const frontier = withMethods(world.frontier, { settle: () => Promise.reject(new Error('Redis is away')) });
  await new Unacked({ ...world.parts, frontier }).putBack(world.delivery);
  expect(world.log.lines).toEqual([
    'warn: a delivery could not be put back: it returns when its lease lapses Redis is away',
  ]);
});
