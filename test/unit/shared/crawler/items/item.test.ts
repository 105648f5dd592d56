import { expect, test } from 'vitest';
import { CrawlerFault } from '../../../../../shared/crawler/failures/crawler-fault.ts';
import { itemAsJson } from '../../../../../shared/crawler/items/item.ts';
import { Page } from '../../../../../shared/crawler/page.ts';

class Price {
  readonly cents = 5;
}

// biome-ignore format: a table
test.each<[string, unknown, unknown]>([
  ['plain values',                  { a: 1, b: 'x', c: null, d: [true, { e: [] }] },   { a: 1, b: 'x', c: null, d: [true, { e: [] }] }],
  ['a bare text',                   'text',                                            'text'],
  ['undefined',                     { a: undefined, b: [undefined] },                  { b: [null] }],
  ['NaN and infinity',              { a: Number.NaN, b: Number.POSITIVE_INFINITY },    { a: null, b: null }],
  ['a date',                        { at: new Date(0) },                               { at: '1970-01-01T00:00:00.000Z' }],
  ['fields of a class',             { price: new Price() },                            { price: { cents: 5 } }],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }),      { a: 1 }],
  ['a field named __proto__',       JSON.parse('{"__proto__": {"a": 1}}'),             JSON.parse('{"__proto__": {"a": 1}}')],
])('an item becomes JSON: %s', (_, item, expected) => {
  expect(JSON.stringify(itemAsJson(item))).toBe(JSON.stringify(expected));
});

// biome-ignore format: a table
test.each<[unknown, string]>([
  [new Map([[1, 2]]),                          'item (Map) has no form in JSON: Object.fromEntries(…) makes it an object'],
  [{ sizes: new Set(['s']) },                  'item.sizes (Set) has no form in JSON: [...set] makes it a list'],
  [{ all: [{ price: Promise.resolve(1) }] },   'item.all[0].price (Promise) has no form in JSON: await it'],
  [{ sizes: Page.fromHtml('<p>').all('p') },   'item.sizes[0] (Selection) has no form in JSON: take its text, or an attribute'],
  [{ text: () => 'x' },                        'item.text (function) has no form in JSON: call it'],
  [{ ids: [1n] },                              'item.ids[0] (bigint) has no form in JSON: String(…) makes it a text'],
  [{ found: /x/ },                             'item.found (RegExp) has no form in JSON'],
])('%o is refused, because JSON would lose it', (item, said) => {
  expect(() => itemAsJson(item)).toThrow(new CrawlerFault(said, 'schema'));
});

test('later changes to its objects do not affect an item', () => {
  const item = { sizes: ['s'], price: { cents: 1 } };
  const written = itemAsJson(item);
  item.sizes.push('m');
  item.price.cents = 2;
  expect(written).toEqual({ sizes: ['s'], price: { cents: 1 } });
});

test('a circular value is left as it is, for the writer of the record to refuse', () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  expect(itemAsJson(circle)).toBe(circle);
});
