import { expect, test } from 'vitest';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { groupMaterial } from '../../../../../shared/crawler/joins/group-material.ts';
import { runMaterial } from '../../../../../shared/crawler/joins/run-material.ts';
import type { DoneRecord } from '../../../../../shared/ports/record.ts';

const step = { run() {} };
const shop = defineCrawler({
  name: 'shop',
  steps: { product: { to: ['price', 'review'], ...step }, price: step, review: step },
  joins: { sum: { per: 'product', of: ['review', 'price'], ...step } },
});

test('the inputs of a join are sorted by step, then URL, then request, in whatever order they ended', () => {
  const urls = { '3': '/a', '1': '/b', '2 7f': '/a', '2 0d': '/a' };
  const inputs = Object.entries(urls).flatMap(([of, url]) =>
    ['price', 'review'].map((name) => {
      const [, digest] = of.split(' ');
      const mark = `${name} http://a.test${url}${digest === undefined ? '' : ` ${digest}`} @g`;
      return [mark, JSON.stringify({ url, kept: {}, records: [of] })] as const;
    }),
  );
  const task = { run: 'r', url: '/p', mark: 'sum @g', step: 'sum', host: '@', depth: 0, queue: 'normal' } as const;
  const none = { isTooLarge: false, missing: {}, firstMissing: [] };
  for (const ended of [inputs, inputs.toReversed()]) {
    const given = { inputs: Object.fromEntries(ended), ...none };
    const material = groupMaterial(task, given, { per: 'product', of: ['review', 'price'] }, shop);
    const one = material.inputs.map(({ step: name, records }) => `${name} ${records}`);
    expect(one).toEqual(['review', 'price'].flatMap((name) => ['2 0d', '2 7f', '3', '1'].map((of) => `${name} ${of}`)));
  }
});

test('a run join gets every item of every done page of a step, and leaves no source open', async () => {
  const done = { outcome: 'done', step: 'price' } as const;
  const records: Pick<DoneRecord, 'outcome' | 'step' | 'data' | 'items'>[] = [
    { ...done, data: 'one' },
    { ...done, data: ['two', 'three'], items: 2 },
    { ...done, data: null, items: 0 },
    { ...done, step: 'review', data: 'a review' },
  ];
  let open = 0;
  const openRecords = async () => {
    open++;
    return {
      async *read() {
        yield* [...records, { outcome: 'failed', step: 'price' } as const];
      },
      close: async () => void open--,
    };
  };
  const progress = { run: 'r', done: 4, steps: { price: { done: 3 }, review: { done: 1 } } };
  const rows = await Array.fromAsync(runMaterial(shop, progress, openRecords).records('price'));
  expect(rows).toEqual(['one', 'two', 'three']);
  expect(open).toBe(0);
  const fewer = runMaterial(shop, { ...progress, steps: { price: { done: 4 } } }, openRecords);
  await expect(Array.fromAsync(fewer.records('price'))).rejects.toThrow('3 records of price can be read here');
  expect(open).toBe(0);
});
