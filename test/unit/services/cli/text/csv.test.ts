import { expect, test } from 'vitest';
import { CSV_HEADER, csvLine } from '../../../../../services/cli/text/csv.ts';
import { doneRecord } from '../../../../support/builders.ts';

const TITLE = CSV_HEADER.split(',').indexOf('title');

/** The cell of a title, as it stands in its line. */
function cellOf(title: string): string {
  const line = csvLine(doneRecord('http://a.test/', { title }));
  const others = csvLine(doneRecord('http://a.test/', { title: '' }));
  const start = others.split(',').slice(0, TITLE).join(',').length + 1;
  return line.slice(start, line.length - others.length + start);
}

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
])('the title %j is the cell %j', (title, cell) => {
  expect(cellOf(title)).toBe(cell);
});

test('whatever is in its cells, a record has as many as the header', () => {
  const record = doneRecord('http://a.test/', { title: 'a,b', data: { '=1,"': ['x\r\ny', ';'] } });
  const cells = csvLine(record)
    .trimEnd()
    .match(/(?:"(?:[^"]|"")*"|[^,"]*)(?:,|$)/g)
    ?.slice(0, CSV_HEADER.split(',').length);
  expect(cells?.at(TITLE)).toBe('"a,b",');
  expect(JSON.parse(cells?.at(-1)?.slice(1, -1).replaceAll('""', '"') ?? '')).toEqual(record.data);
});
