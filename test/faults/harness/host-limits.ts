import { expect } from 'vitest';
import type { Crawl } from './crawl.ts';

/** Requests reach the log of the site with a varying delay, above all on a busy machine. */
const MEASURE_ERROR_MS = 300;
const WINDOW_MS = 1_000;

/** Checks that in any second the site saw no more requests than its limit allows: `k + 1` in `k` intervals, plus the measuring error. */
export function hostLimitsKept({ site, options }: Crawl, slack: number): void {
  const { perMinute = 3_000 } = options;
  if (perMinute === 'none') return;
  const interval = 60_000 / perMinute;
  const allowed = Math.floor((WINDOW_MS + MEASURE_ERROR_MS) / interval) + 1 + slack;
  expect(
    mostWithin(
      site.requests.map(({ at }) => at),
      WINDOW_MS,
    ),
    'requests in one second',
  ).toBeLessThanOrEqual(allowed);
}

/** The largest number of these moments within one span of time. */
export function mostWithin(moments: readonly number[], spanMs: number): number {
  const sorted = moments.toSorted((a, b) => a - b);
  let [most, from] = [0, 0];
  for (const [to, moment] of sorted.entries()) {
    while (moment - (sorted[from] ?? 0) > spanMs) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}
