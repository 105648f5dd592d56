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

test('columns stand under each other, whatever a character takes of a terminal', () => {
  expect(
    table([
      ['你好', '|'],
      ['e\u0301', '|'],
      ['👩‍👩‍👧', '|'],
      ['abcd', '|'],
    ]),
  ).toEqual(['你好  |', 'e\u0301     |', '👩‍👩‍👧    |', 'abcd  |']);
});

test('a wide cell is cut, and one wide cell makes no other line wide', () => {
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

test('what others wrote stays in its cell', () => {
  expect(table([['a\u001b]0;title\u0007\nb\tc\u009b2J\u202e', 'x']])).toEqual([
    'a\\u001b]0;title\\u0007\\u000ab\\u0009c\\u009b2J\\u202e  x',
  ]);
});

test('many rows are many lines', () => {
  expect(table(Array.from({ length: 200_000 }, (_, i) => [String(i)])).length).toBe(200_000);
});
