import { expect, test } from 'vitest';
import { judged } from '../../../bench/table.ts';

test.each([
  ['2 806 (2 764–2 848)', '≥ 2 200', '', '≥ 2 200 met'],
  ['2 199 (2 100–2 298)', '≥ 2 200', '', '≥ 2 200 MISSED'],
  ['20.0', '≤ 20', '', '≤ 20 met'],
  ['20.1 (8.9–46.4)', '≤ 20', '', '≤ 20 MISSED'],
  ['Infinity', '≥ 0.85', '', '≥ 0.85 met'],
  ['NaN', '≥ 0.85', '', '≥ 0.85 MISSED'],
  ['4 853', 'ratio ≥ 0.40', '0.41', 'ratio ≥ 0.40 met'],
  ['4 853', 'ratio ≥ 0.40', '0.39', 'ratio ≥ 0.40 MISSED'],
  ['4 853', '', '1.00', ''],
])('%s, which must be %s, its ratio being "%s": "%s"', (figure, must, ratio, told) => {
  expect(judged(['row', figure, must, ratio])).toEqual(['row', figure, told, ratio]);
});
