import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { Page } from '../../../../../shared/crawler/page.ts';
import { testCrawler } from '../../../../../shared/crawler/testing/test-crawler.ts';

const LIST =
  '<h1>Tea</h1><a class=product href=/product/1>1</a><a class=product href=/product/2>2</a><a class=next href="?page=2">next</a>';
const PRODUCT = { url: 'https://shop.example/product/1', kept: { list: 'Tea' } };

const shop = defineCrawler({
  name: 'shop',
  args: z.object({ most: z.number().default(9) }),
  patterns: { product: '/product/*', broken: '/broken' },
  steps: {
    list: {
      to: ['product', 'list'],
      run({ page, args, follow }) {
        follow('product', page.links('a.product').slice(0, args.most), { kept: { list: page.get('h1') ?? '' } });
        follow('list', page.links('a.next'));
      },
    },
    product: {
      to: ['reviews'],
      keeps: z.object({ list: z.string() }),
      record: z.object({ name: z.string(), list: z.string() }),
      run({ page, kept, emit, follow }) {
        for (const name of [page.json<string>('name'), page.get('h1')])
          if (name !== undefined) emit({ name, list: kept.list });
        follow('reviews', '/reviews');
      },
    },
    reviews: { when: { exists: 'sku' }, run() {} },
    broken: {
      run() {
        throw new TypeError('no such thing');
      },
    },
  },
});

test('testCrawler returns the links that a step follows, each with its step and kept values', async () => {
  expect(await testCrawler(shop, { html: LIST, url: 'https://shop.example/all/', args: { most: 1 } })).toEqual({
    items: [],
    follows: [
      { step: 'product', url: 'https://shop.example/product/1', kept: { list: 'Tea' } },
      { step: 'list', url: 'https://shop.example/all/?page=2' },
    ],
    leftOut: [],
  });
});

test('a page starts at the step whose pattern its URL matches, or at the step that is named', async () => {
  const leftOut = [{ step: 'reviews', url: 'https://shop.example/reviews', kept: { list: 'Tea' } }];
  const product = { items: [{ name: 'Pot', list: 'Tea' }], follows: [], leftOut };
  expect(await testCrawler(shop, { html: '<h1>Pot</h1>', ...PRODUCT })).toEqual(product);
  expect(await testCrawler(shop, { json: { name: 'Pot' }, ...PRODUCT })).toEqual(product);
  const page = Page.fromHtml('<h1>Pot</h1>', { url: 'https://shop.example/elsewhere' });
  expect(await testCrawler(shop, { page, step: 'product', kept: { list: 'Tea' } })).toEqual(product);
});

test('testCrawler returns the data and links of a crawler of one function', async () => {
  const short = defineCrawler({ name: 'short', step: (page) => ({ data: { title: page.get('h1') } }) });
  expect(await testCrawler(short, { html: '<h1>A</h1><a href=/b>b</a>', args: {} })).toEqual({
    items: [{ title: 'A' }],
    follows: [{ step: '', url: 'https://www.example.com/b' }],
    leftOut: [],
  });
});

// biome-ignore format: a table
test.each<[string, Parameters<typeof testCrawler>[1], RegExp]>([
  ['a step that throws, with its place', { html: '', url: 'https://shop.example/broken' }, /test-crawler\.test\.ts:\d+, step broken: TypeError: no such thing, in `throw new TypeError\('no such thing'\);`$/],
  ['an item that breaks its schema', { json: { name: 3 }, ...PRODUCT }, /step product: an item: name: Invalid input: expected string, received number \(3\), in `.*emit\(.*`$/],
  ['kept values of the wrong shape', { html: '', ...PRODUCT, kept: {} }, /^kept: step product expects list: Invalid input: expected string/],
  ['an unknown argument', { html: '', args: { mots: 1 } }, /crawler shop has no argument mots: did you mean most\?$/],
  ['an argument of the wrong type', { html: '', args: { most: 'a' } }, /--arg most: .*number/],
  ['an unknown step', { html: '', step: 'prodct' }, /expected a step of crawler shop, got prodct, which is no step: did you mean product\?$/],
  ['no page', {}, /expected testCrawler to get one of html, json and page, got none$/],
  ['two pages', { html: '', json: {} }, /got 2$/],
  ['a text', '<h1>A</h1>' as never, /^expected testCrawler to get a page or pages: \{ html: '…', url: 'https:\/\/…' \}$/],
  ['nothing', undefined as never, /^expected testCrawler to get a page or pages: /],
])('testCrawler refuses %s', async (_, options, said) => {
  await expect(testCrawler(shop, options)).rejects.toThrow(said);
});

test('testCrawler refuses a definition in the place of a crawler', async () => {
  const given = { name: 'shop', steps: {} } as never;
  await expect(testCrawler(given, { html: '' })).rejects.toThrow('to get a crawler first, as defineCrawler makes it');
});
