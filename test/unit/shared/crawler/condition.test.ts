import { expect, test } from 'vitest';
import { type Condition, conditionText, meets } from '../../../../shared/crawler/condition.ts';

const KEPT = { sku: 'a', price: 12, tags: ['x'], none: null, day: '2026-11-23' };

// biome-ignore format: a table
test.each<[Condition, boolean, string]>([
  [{},                                                   true,  ''],
  [{ exists: 'sku' },                                    true,  'sku exists'],
  [{ exists: ['sku', 'none'] },                          false, 'sku exists and none exists'],
  [{ equals: { sku: 'a', price: 12 } },                  true,  'sku = "a" and price = 12'],
  [{ equals: { sku: 'A' } },                             false, 'sku = "A"'],
  [{ notEquals: { sku: 'A' } },                          true,  'sku ≠ "A"'],
  [{ greaterThan: { price: 11 } },                       true,  'price > 11'],
  [{ greaterThan: { price: 12 } },                       false, 'price > 12'],
  [{ lessThan: { day: '2027' } },                        true,  'day < "2027"'],
  [{ lessThan: { sku: 5 } },                             false, 'sku < 5'],
  [{ in: { sku: ['a', 'b'] } },                          true,  'sku in ["a","b"]'],
  [{ not: { exists: 'sku' } },                           false, 'not (sku exists)'],
  [{ or: [{ exists: 'x' }, { exists: 'sku' }] },         true,  '(x exists) or (sku exists)'],
  [{ and: [{ exists: 'x' }, { exists: 'sku' }] },        false, '(x exists) and (sku exists)'],
  [{ exists: 'sku', equals: { price: 1 } },              false, 'sku exists and price = 1'],
  [(kept) => kept.price === 12,                          true,  'a condition'],
])('the condition %j holds: %s, and is shown as: %s', (condition, holds, text) => {
  expect(meets(KEPT, condition)).toBe(holds);
  expect(conditionText(condition)).toBe(text);
});

test('an async condition is refused, because its promise would always count as true', () => {
  const condition = (async () => false) as unknown as Condition;
  expect(() => meets(KEPT, condition)).toThrow("expected when to say yes or no, got a promise: it can't be async");
});
