import { expect, test } from 'vitest';
import { FleetPace } from '../../../../services/api/fleet-pace.ts';
import type { RunProgress } from '../../../../shared/ports/runs.ts';

/** The store's clock is hours off the API's. */
const OFF_MS = 7_200_000;

/** A run that began at one moment, and how many pages it has at another. */
function run(name: string, startedAt: number, now: number, done: number): RunProgress {
  const times = { startedAt: startedAt + OFF_MS, readAt: now + OFF_MS };
  return { run: name, ...times, done, skipped: 0, failed: 0 } as unknown as RunProgress;
}

test('pages of runs that begin and end between two looks count; of earlier runs only new pages do', () => {
  const pace = new FleetPace();
  const long = (now: number, done: number) => run('long', 0, now, done);
  expect(pace.look([long(10_000, 5_000)], 10_000)).toBeUndefined();
  expect(pace.look([long(15_000, 5_050), run('b1', 11_000, 15_000, 100)], 15_000)).toBe(30);
  // The run comes into view only now, because it was opened again.
  const old = (now: number) => run('old', 1_000, now, 9_000);
  expect(pace.look([long(20_000, 5_050), run('b1', 11_000, 20_000, 100), old(20_000)], 20_000)).toBe(0);
  expect(pace.look([run('b2', 21_000, 25_000, 40), run('b3', 22_000, 25_000, 60)], 25_000)).toBe(20);
});

test('with a look each second, the pace is that of the last five seconds', () => {
  const pace = new FleetPace();
  expect(pace.look([], 0)).toBeUndefined();
  const paces = Array.from({ length: 12 }, (_, n) => {
    const now = (n + 1) * 1_000;
    return pace.look([run('r', 500, now, Math.min(n + 1, 6) * 10)], now);
  });
  expect(paces).toEqual([10, 10, 10, 10, 10, 10, 8, 6, 4, 2, 0, 0]);
});
