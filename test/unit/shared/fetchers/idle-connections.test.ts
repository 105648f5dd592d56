import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IdleConnections, mostIdle } from '../../../../shared/fetchers/idle-connections.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function connection() {
  return { destroy: vi.fn() };
}

test('a connection is closed once it has waited for its time, and no sooner', () => {
  const idle = new IdleConnections(10);
  const one = connection();
  idle.keep(one, 4_000);
  vi.advanceTimersByTime(3_999);
  expect(one.destroy).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(one.destroy).toHaveBeenCalledOnce();
});

test('a connection that has a request again is not closed', () => {
  const idle = new IdleConnections(1);
  const [one, other] = [connection(), connection()];
  idle.keep(one, 4_000);
  idle.take(one);
  idle.keep(other);
  vi.advanceTimersByTime(10_000);
  expect([one.destroy, other.destroy].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
});

test('above the bound, the connection that has been idle longest is closed', () => {
  const idle = new IdleConnections(2);
  const [one, other, third] = [connection(), connection(), connection()];
  idle.keep(one);
  idle.keep(other);
  idle.keep(one);
  idle.keep(third);
  expect([one, other, third].map(({ destroy }) => destroy.mock.calls.length)).toEqual([0, 1, 0]);
});

test.each([
  ['a large machine', 1_000_000, 24 * 2 ** 30, 4_096],
  ['a machine with few files', 1_024, 24 * 2 ** 30, 256],
  ['a container of 256 MiB', 1_000_000, 256 * 2 ** 20, 682],
])('%s (%i files, %i bytes of memory) keeps at most %i idle connections', (_, files, memory, most) => {
  expect(mostIdle(files, memory)).toBe(most);
});
