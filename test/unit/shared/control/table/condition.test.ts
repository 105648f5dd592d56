import { expect, test } from 'vitest';
import { holds, readCondition } from '../../../../../shared/control/table/condition.ts';

const DATA = {
  name: 'A, B',
  price: 12.5,
  sold: false,
  none: null,
  blank: '',
  tags: ['red', 'blue'],
  empty: [],
  size: { w: 1 },
};
const ROW = { item: DATA, data: DATA, record: { status: 404, url: 'http://a.test/?q=1' } };

// biome-ignore format: a table
test.each([
  ['status=404',             true],
  ['status=200,404',         true],
  ['status!=200,404',        false],
  ['status!=200',            true],
  ['@status = 404',          true],
  ['price=12.50',            true],
  ['price=12',               false],
  ['sold=false',             true],
  ['url=http://a.test/?q=1', true],
  ['url=',                   false],
  ['url!=',                  true],
  ['nowhere=',               true],
  ['nowhere!=',              false],
  ['nowhere=x',              false],
  ['nowhere!=x',             true],
  ['none=',                  true],
  ['none=null',              false],
  ['blank=',                 true],
  ['empty=',                 true],
  ['status=,404',            true],
  ['nowhere=,404',           true],
  ['nowhere!=,404',          false],
  ['price=,404',             false],
  ['tags=blue',              true],
  ['tags=green',             false],
  ['tags!=blue',             false],
  ['tags[0]=red',            true],
  ['size.w=1',               true],
  ['.=x',                    false],
])('%j: %j', (text, expected) => {
  expect(holds(readCondition(text), ROW)).toBe(expected);
});

test.each(['', 'status', '=404', '!=', 'a..b=1', 'a!b=1'])('%j is no condition', (text) => {
  expect(() => readCondition(text)).toThrow(/^expected --where to be a condition like status=404,410 or price!= /);
});
