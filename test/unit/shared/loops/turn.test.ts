import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Turn } from '../../../../shared/loops/turn.ts';
import type { HostGate, RequestEnd } from '../../../../shared/ports/host-gate.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Turns of one host, and what its gate hears of them. */
function setup(intervalMs: number) {
  const late: string[] = [];
  const ends: (RequestEnd | undefined)[] = [];
  const gate: Partial<HostGate> = {
    sentLate: async (host) => void late.push(host),
    leave: async (_host, _limit, _holder, end) => void ends.push(end),
  };
  const closing = new Map<string, true>();
  const slot = { host: 'a.test', holder: 'x', limit: { intervalMs, concurrency: 2 } };
  return { late, ends, turn: () => new Turn(gate as HostGate, slot, closing as never) };
}

// biome-ignore format: a table
test.each<[string, number, number, number]>([
  ['sent at once',                    1_000,  90, 0],
  ['sent late',                       1_000, 110, 1],
  ['late for a short interval',              100,  20, 1],
  ['late by the most that any may be',    60_000, 110, 1],
  ['late, but the host has no pace',           0, 400, 0],
])('%s', (_, intervalMs, afterMs, times) => {
  const { turn, late } = setup(intervalMs);
  const { timings } = turn();
  vi.advanceTimersByTime(afterMs);
  timings.onSent();
  expect(late).toEqual(Array(times).fill('a.test'));
});

test('on a host that closes connections after each answer every request is equally late: after the first, no slot is moved', async () => {
  const { turn, late } = setup(1_000);
  for (let n = 0; n < 3; n++) {
    const request = turn();
    vi.advanceTimersByTime(500);
    request.timings.onSent();
    request.timings.isClosing = true;
    await request.over();
  }
  expect(late).toHaveLength(1);
});

test('time that a request waited for this process is not counted as response time', async () => {
  const { turn, ends } = setup(0);
  const request = turn();
  vi.advanceTimersByTime(500);
  request.timings.waitedMs = 300;
  await request.over({ isFailure: true });
  expect(ends).toEqual([{ durationMs: 200, isFailure: true }]);
});

test('an answer that is read for long counts up to where it began', async () => {
  const { turn, ends } = setup(0);
  const request = turn();
  vi.advanceTimersByTime(100);
  const answeredAt = performance.now();
  vi.advanceTimersByTime(900);
  await request.over({ answeredAt });
  expect(ends).toEqual([{ durationMs: 100, isFailure: false }]);
});
