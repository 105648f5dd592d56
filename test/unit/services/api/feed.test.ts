import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FleetFeed, type Moment } from '../../../../services/api/feed.ts';
import { type LinkedStores, LocalLink } from '../../../../services/api/link.ts';
import { Snapshots } from '../../../../services/api/snapshots.ts';
import { UnavailableError } from '../../../../shared/runtime/errors.ts';
import { silentLog } from '../../../../shared/runtime/logger.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { offerOf } from '../../../support/stores/embedded.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';

/** A feed over the store of a new folder, with a stepped clock. Every call of the store is counted. */
async function setup() {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-feed-'));
  const settings = settingsFrom({ flag: {}, environment: { OUTPUT_DIR: folder }, file: {} });
  const link = new LocalLink({ settings });
  await link.start();
  const calls = { reads: 0, lists: 0, isAway: false };
  const counting = (stores: LinkedStores): LinkedStores => ({
    ...stores,
    runs: withMethods(stores.runs, {
      listOpen: (limit) => {
        calls.lists++;
        return stores.runs.listOpen(limit);
      },
    }),
  });
  let counted: LinkedStores | undefined;
  const over = withMethods(link, {
    withStores: (action) => {
      calls.reads++;
      if (calls.isAway) return Promise.reject(new UnavailableError('Redis is away'));
      return link.withStores((stores) => {
        counted ??= counting(stores);
        return action(counted);
      });
    },
  });
  const clock = new SteppedClock();
  const snapshots = new Snapshots(over, clock, undefined);
  const feed = new FleetFeed(snapshots, clock, silentLog);
  await feed.start();
  onTestFinished(async () => {
    await feed.stop();
    await link.stop();
    await rm(folder, { recursive: true, force: true });
  });
  /** Steps a second, once every listener has heard of the one before. */
  const second = async (heard: () => number, most: number): Promise<void> => {
    await expect.poll(heard, { interval: 2 }).toBeGreaterThanOrEqual(most);
    clock.step(1_000);
  };
  return { link, calls, clock, snapshots, feed, second };
}

test.each([1, 100])(
  '%i listeners, and fifty who ask beside them, cost one read of the store a second',
  async (many) => {
    const { link, calls, feed, snapshots, second } = await setup();
    await link.withStores(({ runs }) => runs.open('r1', FAST_RUN, 'p'));
    const heard = Array.from({ length: many }, () => 0);
    for (const n of heard.keys())
      feed.listen(() => {
        heard[n] = (heard[n] ?? 0) + 1;
      });
    const least = (): number => Math.min(...heard);
    await expect.poll(least, { interval: 2 }).toBe(1);
    const before = { ...calls };
    for (let at = 1; at <= 10; at++) {
      await Promise.all(Array.from({ length: 50 }, () => snapshots.fleet()));
      await second(least, at);
    }
    await expect.poll(least, { interval: 2 }).toBe(11);
    expect(calls.reads - before.reads).toBeLessThanOrEqual(11);
    expect(calls.lists - before.lists).toBe(calls.reads - before.reads);
  },
);

test('listeners of one run cost one more read a second, however many they are', async () => {
  const { link, calls, feed, second } = await setup();
  await link.withStores(({ runs }) => runs.open('r1', FAST_RUN, 'p'));
  let [fleet, run] = [0, 0];
  for (let n = 0; n < 100; n++)
    feed.listen((event) => {
      if (event === 'run') run++;
      else fleet++;
    }, 'r1');
  await expect.poll(() => run, { interval: 2 }).toBe(100);
  const before = calls.reads;
  for (let at = 1; at <= 5; at++) await second(() => run, 100 * at);
  await expect.poll(() => run, { interval: 2 }).toBe(600);
  expect([fleet, calls.reads - before]).toEqual([600, 10]);
});

test('while the store is away listeners hear that each second, and get the fleet once it is back', async () => {
  const { calls, feed, second } = await setup();
  const events: string[] = [];
  feed.listen((event) => void events.push(event));
  await second(() => events.length, 1);
  calls.isAway = true;
  await second(() => events.length, 2);
  await second(() => events.length, 3);
  calls.isAway = false;
  await expect.poll(() => events.length, { interval: 2 }).toBeGreaterThanOrEqual(3);
  expect(events.slice(0, 1)).toEqual(['fleet']);
  expect(events).toContain('unavailable');
  await second(() => events.length, 4);
  await expect.poll(() => events.at(-1), { interval: 2 }).toBe('fleet');
});

test('the figures are those of all open runs, of which the list has the newest', async () => {
  const { link, feed, snapshots, second } = await setup();
  const ids = Array.from({ length: 230 }, (_, n) => `r${n}`);
  await link.withStores(async ({ runs, frontier }) => {
    for (const run of ids) {
      await runs.open(run, FAST_RUN, 'p');
      await frontier.offer(run, [offerOf(`https://${run}.test/`)]);
    }
  });
  snapshots.forget();
  const fleets: { runs: unknown[]; moment: Moment }[] = [];
  feed.listen((_, data) => void fleets.push(JSON.parse(data)));
  await second(() => fleets.length, 1);
  expect(fleets[0]?.runs).toHaveLength(200);
  expect(fleets[0]?.moment).toMatchObject({ waiting: 230, inFlight: 0, done: 0, failed: 0 });
});
