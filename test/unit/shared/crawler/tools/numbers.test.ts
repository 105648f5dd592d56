import { expect, onTestFinished, test, vi } from 'vitest';
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
  ['1.5K',             1.5],
  ['2 M views',        2],
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
  ['٣٤٥٫٥٠ ر.س',       345.5],
  ['١٬٢٣٤٫٥',          1234.5],
  ['１，２９９円',        1299],
  ['१,२९,९९९',          129_999],
  ['𝟙𝟚 and 𝟿',          12],
  ['none',             undefined],
  ['',                 undefined],
  ['9'.repeat(400),    1e41],
])('the number in "%s" is %s', (text, number, options) => {
  expect(numberIn(text, options)).toBe(number);
});

test('in a text of another script, only the digits of the first number are translated', () => {
  const translated = vi.spyOn(String, 'fromCodePoint');
  onTestFinished(() => translated.mockRestore());
  expect(numberIn(`${'x'.repeat(100_000)} -${'٣ '.repeat(100_000)}`)).toBe(-3);
  expect(translated.mock.calls.length).toBeLessThan(10_000);
});
