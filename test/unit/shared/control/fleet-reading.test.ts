import { expect, onTestFinished, test } from 'vitest';
import { FleetReader, identityGapOf, type ReadLink } from '../../../../shared/control/fleet-reading.ts';
import { RecentRead } from '../../../../shared/control/recent-read.ts';
import type { HostLine } from '../../../../shared/ports/run-overview.ts';
import { DamagedRunError } from '../../../../shared/runtime/errors.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { letterOf } from '../../../support/stores/letters.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';

test('the identity gap is what the six states miss, or have too much', () => {
  const run = { discovered: 21, waiting: 1, inFlight: 2, done: 3, skipped: 4, failed: 5, cancelled: 6 };
  expect([identityGapOf(run), identityGapOf({ ...run, done: 1 }), identityGapOf({ ...run, failed: 9 })]).toEqual([
    0, 2, 4,
  ]);
});

test('a hundred callers cost one read, and the next one comes when it is old', async () => {
  const clock = new SteppedClock();
  let reads = 0;
  const read = new RecentRead(async () => ++reads, { clock, forMs: 5_000 });
  expect(new Set(await Promise.all(Array.from({ length: 100 }, () => read.get())))).toEqual(new Set([1]));
  clock.step(4_999);
  expect(await read.get()).toBe(1);
  clock.step(1);
  expect(await read.get()).toBe(2);
});

test('a store that fails has no answer, is asked again, and one that hangs is not asked twice', async () => {
  const clock = new SteppedClock();
  let reads = 0;
  const failing = new RecentRead(() => Promise.reject(new Error(`away ${++reads}`)), { clock, forMs: 5_000 });
  expect([await failing.get(), await failing.get(), reads]).toEqual([undefined, undefined, 2]);
  const { promise, resolve } = Promise.withResolvers<string>();
  const hanging = new RecentRead(
    () => {
      reads++;
      return promise;
    },
    { clock, forMs: 5_000 },
  );
  const late = hanging.get();
  clock.step(5_000);
  expect(await late).toBeUndefined();
  const again = hanging.get();
  resolve('back');
  expect([await again, reads]).toEqual(['back', 3]);
});

test('what can be read is read although the store is away', async () => {
  const away = (): Promise<never> => Promise.reject(new Error('Redis is away'));
  const reader = new FleetReader({
    link: {
      withStores: away,
      withLetters: away,
      depths: async () => ({
        priority: { ready: 1, consumers: 0 },
        normal: { ready: 2, consumers: 0 },
        failed: { ready: 3, consumers: 0 },
      }),
    },
    hostConcurrency: 2,
    clock: new SteppedClock(),
  });
  const reading = await reader.read();
  expect(Object.keys(reading)).toEqual(['queues']);
  expect(reading.queues?.failed.ready).toBe(3);
  expect(await reader.workersWanted()).toBeUndefined();
});

test('the age of the oldest letter is that of the first one that says when it failed', async () => {
  const clock = new SteppedClock();
  const bytes = (text: string) => ({ id: undefined, headers: {}, body: new TextEncoder().encode(text) });
  const letter = (agoMs: number) => bytes(String(letterOf('http://a.test/', { at: clock.now() - agoMs }).body));
  const ageOf = async (...letters: readonly ReturnType<typeof bytes>[]) => {
    const link: ReadLink = {
      withStores: () => Promise.reject(new Error('Redis is away')),
      withLetters: (action) => action({ browse: async (limit) => letters.slice(0, limit) }),
      depths: async () => undefined,
    };
    const reading = new FleetReader({ link, hostConcurrency: 2, clock }).read();
    return (await reading).oldestLetterMs;
  };
  expect(await ageOf()).toBe(0);
  expect(await ageOf(letter(7_000), letter(1_000))).toBe(7_000);
  // Letters that were held when their reader was killed come back in any order.
  expect(await ageOf(letter(1_000), letter(7_000), letter(3_000))).toBe(7_000);
  expect(await ageOf(bytes('no task'), letter(3_000))).toBe(3_000);
  expect(await ageOf(bytes('no task'))).toBe(0);
});

test('runs that stay open count, however many are newer', async () => {
  const stores = openLocalParts({ clock: new SteppedClock() });
  onTestFinished(() => stores.database.close());
  for (let n = 0; n < 1_200; n++) await stores.runs.open(`run-${n}`, FAST_RUN, 'p');
  const link = {
    withStores: (action: (read: typeof stores) => Promise<unknown>) => action(stores),
    withLetters: async () => [],
    depths: async () => undefined,
  } as unknown as ReadLink;
  const { runs } = await new FleetReader({ link, hostConcurrency: 2, clock: new SteppedClock() }).read();
  expect([runs?.byState.running, runs?.producers.open]).toEqual([1_200, 1_200]);
});

test('workers are wanted for all hosts, also for those of very large runs, and beside runs that are damaged', async () => {
  const stores = openLocalParts({ clock: new SteppedClock() });
  onTestFinished(() => stores.database.close());
  for (const run of ['large', 'small', 'damaged']) await stores.runs.open(run, { ...FAST_RUN, intervalMs: 1_000 }, 'p');
  const line = {
    waiting: 1,
    intervalMs: 1_000,
    because: 'rate' as const,
    reason: '',
    byHand: false,
    isUnreachable: false,
  };
  const linesOf = (from: string, count: number, pausedMs: number): HostLine[] =>
    Array.from({ length: count }, (_, n) => ({ ...line, host: `${from}-${n}.test`, pausedMs }));
  let read = 0;
  // Of the large run, paused hosts come first.
  const all = new Map([
    ['large', [...linesOf('large', 30_000, 60_000), ...linesOf('large', 70_000, 0)]],
    ['small', linesOf('small', 100, 0)],
  ]);
  const runs = withMethods(stores.runs, {
    progress: async (run) => {
      const found = await stores.runs.progress(run);
      return found && { ...found, waiting: all.get(run)?.length ?? 5 };
    },
    hosts: async (run, limit) => {
      const lines = all.get(run)?.slice(0, limit);
      if (lines === undefined) throw new DamagedRunError(run, 'it has another type');
      read += lines.length;
      return lines;
    },
    hostCount: async (run) => all.get(run)?.length ?? 0,
  });
  const link = {
    withStores: (action: (read: object) => Promise<unknown>) => action({ ...stores, runs }),
  } as unknown as ReadLink;
  const reader = new FleetReader({ link, hostConcurrency: 2, clock: new SteppedClock() });
  expect(await reader.workersWanted(), 'by 20 pages a second each').toBe((80_100 + 100 + 20) / 20);
  expect(read, 'of all runs together').toBe(19_995);
});
