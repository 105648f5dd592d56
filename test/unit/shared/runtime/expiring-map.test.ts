import { expect, test } from 'vitest';
import { ExpiringMap } from '../../../../shared/runtime/expiring-map.ts';
import { SteppedClock } from '../../../support/stepped-clock.ts';

function setup({ maxEntries = 3, maxBytes = 100 } = {}) {
  const clock = new SteppedClock();
  const map = new ExpiringMap<string>({ clock, maxEntries, maxBytes });
  return { clock, map, keep: (key: string, bytes = 1, ttlMs = 1_000) => map.set(key, key, { bytes, ttlMs }) };
}

test('a value is there until its time is over', () => {
  const { clock, map, keep } = setup();
  keep('a');
  clock.step(999);
  expect(map.get('a')).toBe('a');
  clock.step(1);
  expect([map.get('a'), map.size]).toEqual([undefined, 0]);
});

test('of too many, the one that was not asked for longest goes', () => {
  const { map, keep } = setup();
  for (const key of ['a', 'b', 'c']) keep(key);
  map.get('a');
  keep('d');
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual(['a', undefined, 'c', 'd']);
});

test('all values together are no larger than they may be', () => {
  const { map, keep } = setup();
  keep('a', 60);
  keep('b', 60);
  expect([map.get('a'), map.get('b')]).toEqual([undefined, 'b']);
  keep('b', 40);
  keep('c', 60);
  expect([map.get('b'), map.get('c')], 'a value takes the place of the one before').toEqual(['b', 'c']);
  keep('huge', 101);
  expect([map.get('huge'), map.size], 'one that is too large moves nobody').toEqual([undefined, 2]);
});

test('what is deleted or has expired takes no room', () => {
  const { clock, map, keep } = setup();
  keep('a', 100);
  map.delete('a');
  map.delete('a');
  keep('b', 100);
  clock.step(1_000);
  map.get('b');
  keep('c', 100);
  keep('d', 0);
  expect([map.get('c'), map.size]).toEqual(['c', 2]);
});
