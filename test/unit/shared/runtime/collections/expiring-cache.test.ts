import { expect, test } from 'vitest';
import { ExpiringCache } from '../../../../../shared/runtime/collections/expiring-cache.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

function setup() {
  const clock = new SteppedClock();
  const cache = new ExpiringCache<string>({ clock, max: 3, maxSize: 100 });
  return { clock, cache, keep: (key: string, size = 1, ttlMs = 1_000) => cache.keep(key, key, ttlMs, size) };
}

test('a value is kept until its time is over', () => {
  const { clock, cache, keep } = setup();
  keep('a');
  clock.step(999);
  expect(cache.get('a')).toBe('a');
  clock.step(1);
  expect([cache.get('a'), cache.size]).toEqual([undefined, 0]);
});

test('when the cache is full, the least recently used value is dropped', () => {
  const { cache, keep } = setup();
  for (const key of ['a', 'b', 'c']) keep(key);
  cache.get('a');
  keep('d');
  expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key))).toEqual(['a', undefined, 'c', 'd']);
});

test('the sum of the sizes stays within its limit', () => {
  const { cache, keep } = setup();
  keep('a', 60);
  keep('b', 60);
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 'b']);
  cache.keep('b', 'another', 1_000, 40);
  keep('c', 60);
  expect([cache.get('b'), cache.get('c')], 'a value takes the place of the one before').toEqual(['another', 'c']);
  keep('huge', 101);
  expect([cache.get('huge'), cache.size], 'one that is too large moves nobody').toEqual([undefined, 2]);
});

test('deleted and expired values take no room', () => {
  const { clock, cache, keep } = setup();
  keep('a', 100);
  cache.delete('a');
  cache.delete('a');
  keep('b', 100);
  clock.step(1_000);
  cache.get('b');
  keep('c', 100);
  expect([cache.get('c'), cache.size]).toEqual(['c', 1]);
});

test('time follows the given clock, even within one millisecond of real time', () => {
  const { clock, cache, keep } = setup();
  for (let n = 0; n < 100; n++) {
    keep('a', 1, 1);
    expect(cache.get('a')).toBe('a');
    clock.step(1);
    expect(cache.get('a')).toBeUndefined();
  }
});
