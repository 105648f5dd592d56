import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldsOfItems } from '../../../../../shared/crawler/items/item-fields.ts';

const base = z.object({ sku: z.string(), price: z.number().optional() });

// biome-ignore format: a table
test.each([
  ['an object',                 base,                                                       ['sku', 'price']],
  ['a strict object',           z.strictObject({ b: z.string(), a: z.string() }),           ['b', 'a']],
  ['an object with a check',    base.refine(({ sku }) => sku !== ''),                       ['sku', 'price']],
  ['an object with a default',  base.default({ sku: 'none' }),                              ['sku', 'price']],
  ['a readonly object',         base.readonly(),                                            ['sku', 'price']],
  ['an object after a pipe',    z.string().pipe(z.preprocess(String, base)),                ['sku', 'price']],
  ['a union',                   z.union([base, z.object({ sku: z.string(), n: z.int() })]), ['sku', 'price', 'n']],
  ['an intersection',           base.and(z.object({ name: z.string() })),                   ['sku', 'price', 'name']],
  ['an open object',            z.looseObject({ sku: z.string() }),                         undefined],
  ['an object with a catchall', base.catchall(z.string()),                                  undefined],
  ['a transform',               base.transform(({ sku }) => ({ id: sku })),                 undefined],
  ['a union with a text',       z.union([base, z.string()]),                                undefined],
  ['a text',                    z.string(),                                                 undefined],
  ['a record',                  z.record(z.string(), z.number()),                           undefined],
])('the item fields of a schema are listed if it fixes them: %s', (_, schema, fields) => {
  expect(fieldsOfItems(schema)).toEqual(fields);
});
