import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvLine } from '../../../../../shared/control/table/csv.ts';
import { readCsv } from '../../../../support/python-csv.ts';

test.each([
  ['A page', 'A page'],
  ['', ''],
  ['Fish & chips: 3 for 2!', 'Fish & chips: 3 for 2!'],
  ['one, two', '"one, two"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK(1)', '"=HYPERLINK(1)"'],
  ['+49 30', '"+49 30"'],
  ['-1', '"-1"'],
  ['@here', '"@here"'],
  ['\tx', '"\tx"'],
  ['\rx', '"\rx"'],
  ['a;=1', '"a;=1"'],
  ['a\t=1', '"a\t=1"'],
  ['a|=1', '"a|=1"'],
  ["'quoted", "'quoted"],
  ['a-b=c+d@e', 'a-b=c+d@e'],
  ['a\0b\0', 'a\ufffdb\ufffd'],
  [-1, '"-1"'],
  [false, 'false'],
  [null, ''],
  [undefined, ''],
  [[1, 'zwei'], '"[1,""zwei""]"'],
  [{ a: 1 }, '"{""a"":1}"'],
  [['\ud83d'], '"[""\ufffd""]"'],
])('the value %j is the cell %j', (value, cell) => {
  expect(csvLine([value, 'x'])).toBe(`${cell},x\r\n`);
});

test.each([
  ['', '""'],
  [' ', '" "'],
  [null, '""'],
  ['x', 'x'],
  ['a, b', '"a, b"'],
])('the value %j is the line %j, if it is alone', (value, line) => {
  expect(csvLine([value])).toBe(`${line}\r\n`);
});

test("Python's reader finds the same texts in the same cells", () => {
  const texts = fc.sample(
    fc.array(
      fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: fc.constantFrom(...'",;|\t\r\n=+-@ a') })), {
        minLength: 1,
        maxLength: 5,
      }),
      { minLength: 300, maxLength: 300 },
    ),
    1,
  )[0];
  expect(readCsv((texts ?? []).map(csvLine).join(''))).toEqual(texts);
});
