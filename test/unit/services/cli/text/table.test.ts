import { expect, test } from 'vitest';
import { table } from '../../../../../services/cli/text/table.ts';

test('columns are as wide as they need', () => {
  expect(
    table([
      ['a', 'bb', ''],
      ['ccc', 'd', 'e'],
    ]),
  ).toEqual(['a    bb', 'ccc  d   e']);
});

test('columns are aligned by the width of characters on a terminal', () => {
  expect(
    table([
      ['你好', '|'],
      ['e\u0301', '|'],
      ['👩‍👩‍👧', '|'],
      ['abcd', '|'],
    ]),
  ).toEqual(['你好  |', 'e\u0301     |', '👩‍👩‍👧    |', 'abcd  |']);
});

test('a very wide cell is cut, and does not widen other lines', () => {
  const lines = table([
    ['1', 'https://a.test/short', 'id-1'],
    ['2', `https://a.test/${'x'.repeat(100)}`, 'id-2'],
    ['3', `https://a.test/${'y'.repeat(5_000_000)}`, 'id-3'],
    ['4', `https://a.test/${'好'.repeat(200)}`, 'id-4'],
    ['5', `\u0301`.repeat(1_000_000), 'id-5'],
  ]);
  expect(lines[0]).toBe('1  https://a.test/short  id-1');
  expect(lines[1]).toBe(`2  https://a.test/${'x'.repeat(100)}  id-2`);
  expect(lines[2]).toBe(`3  https://a.test/${'y'.repeat(144)}…  id-3`);
  expect(lines[3]).toBe(`4  https://a.test/${'好'.repeat(72)}…  id-4`);
  expect(lines[4]?.length).toBeLessThan(2_000);
});

test('a task id is never cut', () => {
  const id = `${'r'.repeat(63)}:${'0'.repeat(32)}`;
  expect(table([[id, 'x']])).toEqual([`${id}  x`]);
});

test('control characters in a cell are escaped', () => {
  expect(table([['a\u001b]0;title\u0007\nb\tc\u009b2J\u202e', 'x']])).toEqual([
    'a\\u001b]0;title\\u0007\\u000ab\\u0009c\\u009b2J\\u202e  x',
  ]);
});

test('a table of 200,000 rows has 200,000 lines', () => {
  expect(table(Array.from({ length: 200_000 }, (_, i) => [String(i)])).length).toBe(200_000);
});
