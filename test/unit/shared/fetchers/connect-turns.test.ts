import { expect, test } from 'vitest';
import { ConnectTurns, type Turn } from '../../../../shared/fetchers/connect-turns.ts';
import { RequestClock } from '../../../../shared/fetchers/request-clock.ts';
import { RequestTimings } from '../../../../shared/ports/fetcher.ts';

/** Turns for two at once, and the names of those whose turn has come. */
function setup(mostWaitMs = 1_000_000) {
  const turns = new ConnectTurns({ atOnce: 2, mostWaitMs });
  const begun: string[] = [];
  const take = (name: string, clock = new RequestClock()): Turn => turns.take(clock, () => void begun.push(name));
  return { turns, begun, take };
}

test('two connect at once; the others wait in order, and each that ends lets the next one begin', () => {
  const { turns, begun, take } = setup();
  const [a, b, c] = [take('a'), take('b'), take('c'), take('d')];
  expect([begun, turns.waiting]).toEqual([['a', 'b'], 2]);
  b.end();
  b.end();
  expect([begun, turns.waiting]).toEqual([['a', 'b', 'c'], 1]);
  c.end();
  a.end();
  expect([begun, turns.waiting]).toEqual([['a', 'b', 'c', 'd'], 0]);
  take('e');
  expect(begun).toHaveLength(5);
});

test('one that gives up while it waits never begins, and holds up nobody', () => {
  const { turns, begun, take } = setup();
  const [a, , c] = [take('a'), take('b'), take('c'), take('d')];
  c.end();
  expect(turns.waiting).toBe(1);
  a.end();
  c.end();
  expect([begun, turns.waiting]).toEqual([['a', 'b', 'd'], 0]);
});

test('those that have waited too long begin, even if no other has ended', async () => {
  const { turns, begun, take } = setup(20);
  const [a] = [take('a'), take('b'), take('c'), take('d'), take('e')];
  expect(begun).toEqual(['a', 'b']);
  while (turns.waiting > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
  // There are more than two: none of their ends makes room before only one is left.
  take('f');
  a.end();
  expect(turns.waiting).toBe(1);
});

test('the clock of a request stands still until it is its turn', async () => {
  const { take } = setup();
  const [a] = [take('a'), take('b')];
  const timings = new RequestTimings();
  const clock = new RequestClock(timings);
  let isLate = false;
  clock.setAlarm(10, () => {
    isLate = true;
  });
  take('c', clock);
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(isLate).toBe(false);
  a.end();
  expect(timings.waitedMs).toBeGreaterThan(30);
  while (!isLate) await new Promise((resolve) => setTimeout(resolve, 5));
});
