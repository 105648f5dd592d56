import { expect, test } from 'vitest';
import { BoundedMap } from '../../../../../shared/runtime/collections/bounded-map.ts';

test('drops the entry that was read or set longest ago, and says so', () => {
  const dropped: [string, number][] = [];
  const map = new BoundedMap<string, number>(2, (key, value) => dropped.push([key, value]));
  map.set('a', 1);
  map.set('b', 2);
  map.get('a');
  map.set('c', 3);
  expect(dropped).toEqual([['b', 2]]);
  map.set('a', 4);
  map.set('d', 5);
  expect(dropped).toEqual([
    ['b', 2],
    ['c', 3],
  ]);
  expect([...map.entries()]).toEqual([
    ['d', 5],
    ['a', 4],
  ]);
});

test('neither an entry that is deleted nor a value that is replaced is dropped', () => {
  const dropped: string[] = [];
  const map = new BoundedMap<string, number>(2, (key) => dropped.push(key));
  map.set('a', 1);
  map.set('a', 2);
  map.delete('a');
  map.set('b', 3);
  map.set('c', 4);
  expect(dropped).toEqual([]);
});
