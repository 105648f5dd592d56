import { expect, test } from 'vitest';
import { requestEnd } from '../../../../shared/loops/request-end.ts';
import { RequestTimings } from '../../../../shared/ports/fetcher.ts';

/** A request that began `agoMs` ago, and how it went. */
function ended(agoMs: number, intervalMs: number, given: { connectedAfterMs?: number; waitedMs?: number } = {}) {
  const began = performance.now() - agoMs;
  const timings = new RequestTimings();
  timings.waitedMs = given.waitedMs ?? 0;
  if (given.connectedAfterMs !== undefined) timings.connectedAt = began + given.connectedAfterMs;
  return requestEnd({ began, timings, limit: { intervalMs, concurrency: 2 } });
}

test('what it waited for this process is not the time of its host', () => {
  const { durationMs } = ended(500, 0, { waitedMs: 300 });
  expect(durationMs).toBeGreaterThanOrEqual(200);
  expect(durationMs).toBeLessThan(300);
});

test('an answer that is read for long counts up to where it began', () => {
  const began = performance.now() - 1_000;
  const { durationMs } = requestEnd({
    ...{ began, timings: new RequestTimings(), answeredAt: began + 100 },
    limit: { intervalMs: 0, concurrency: 1 },
  });
  expect(durationMs).toBeCloseTo(100);
});

// biome-ignore format: a table
test.each<[string, number, { connectedAfterMs?: number }, boolean]>([
  ['a kept connection',             1_000, {},                        false],
  ['connected at once',             1_000, { connectedAfterMs: 90 },  false],
  ['connected late',                1_000, { connectedAfterMs: 110 }, true],
  ['late for a short interval',       100, { connectedAfterMs: 20 },  true],
  ['late, but the host has no pace',    0, { connectedAfterMs: 400 }, false],
])('%s', (_, intervalMs, given, isLate) => {
  const { sentAgoMs } = ended(500, intervalMs, given);
  if (!isLate) expect(sentAgoMs).toBeUndefined();
  else expect(sentAgoMs).toBeGreaterThanOrEqual(500 - (given.connectedAfterMs ?? 0));
});
