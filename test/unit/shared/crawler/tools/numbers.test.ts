import { expect, test } from 'vitest';
import { type NumberOptions, numberIn } from '../../../../../shared/crawler/tools/numbers.ts';

// biome-ignore format: a table
test.each<[string, number | undefined, NumberOptions?]>([
  ['1.299,00 €',       1299],
  ['$1,299.50',        1299.5],
  ['1 299,50',         1299.5],
  ['1\u00a0299,50',    1299.5],
  ["1'299.50",         1299.5],
  ['-5',               -5],
  ['−5',               -5],
  ['-$5',              -5],
  ['EUR -3,50',        -3.5],
  ['12%',              12],
  ['1.299',            1299],
  ['1.299',            1.299, { decimal: '.' }],
  ['1,299',            1299],
  ['1,299',            1.299, { decimal: ',' }],
  ['1.299.500',        1_299_500],
  ['1,29,999.50',      129_999.5],
  ['1 234 567,89',     1_234_567.89],
  ['0.299',            0.299],
  ['2.50001',          2.50001],
  ['12345,678',        12345.678],
  ['.5 l',             0.5],
  ['No.5',             5],
  ['10-20',            10],
  ['from 5,- to 7,-',  5],
  ['12.05.2024',       12.05],
  ['5 10',             5],
  ['none',             undefined],
  ['',                 undefined],
  ['9'.repeat(400),    1e41],
])('%s is %s', (text, number, options) => {
  expect(numberIn(text, options)).toBe(number);
});
