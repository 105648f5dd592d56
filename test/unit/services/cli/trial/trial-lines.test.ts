import { expect, test } from 'vitest';
import { stepLines } from '../../../../../services/cli/trial/trial-lines.ts';

const NOTHING = { crawler: 'shop', step: 'list', items: [], follows: [], leftOut: [], isCut: false };

test('a step that gets nothing from a page suggests the other steps', () => {
  expect(stepLines(NOTHING, ['product', 'reviews'])).toEqual([
    '',
    'Crawler shop, step list',
    'emits: no items',
    'follows: no links',
    'Is the page for another step? Try --step with product, reviews',
  ]);
  expect(stepLines(NOTHING, []).at(-1)).toBe('follows: no links');
  expect(stepLines({ ...NOTHING, items: [{ name: 'Pot' }] }, ['product']).at(-1)).toBe('follows: no links');
});
