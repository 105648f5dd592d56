import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { Page } from '../../../../../shared/crawler/page.ts';
import { testCrawler } from '../../../../../shared/crawler/testing/test-crawler.ts';

const SHOP = 'https://shop.example';
const LIST = {
  url: `${SHOP}/all/`,
  html: '<a class=product href=/p/2>2</a><a class=product href=/p/1>1</a><a class=next href="/all/?page=2">next</a>',
};
const product = (n: number) => ({
  url: `${SHOP}/p/${n}`,
  html: `<h1>Pot ${n}</h1><a class=buy href=/buy/${n}></a><a class=reviews href=/p/${n}/reviews></a>`,
});
const price = (n: number) => ({ url: `${SHOP}/buy/${n}`, html: `<b class=price>${n}0.50</b>` });
const reviews = (n: number) => ({
  url: `${SHOP}/p/${n}/reviews`,
  html: '<p class=review><i class=stars>4</i></p><p class=review><i class=stars>5</i></p>',
});

const named = z.object({ name: z.string() });
const priced = z.object({ price: z.number() });
const rated = z.object({ stars: z.number() });
const offers = defineCrawler({
  name: 'offers',
  steps: {
    list: {
      to: ['product', 'list'],
      run({ page, follow }) {
        follow('product', page.links('a.product'));
        follow('list', page.links('a.next'));
      },
    },
    product: {
      to: ['price', 'reviews'],
      record: named,
      run({ page, follow, emit }) {
        emit({ name: page.get('h1') });
        follow('price', page.links('a.buy'));
        follow('reviews', page.links('a.reviews'));
      },
    },
    price: { record: priced, run: ({ page, emit }) => emit({ price: page.number('.price') }) },
    reviews: {
      record: rated,
      run: ({ page, emit }) => page.all('.review').forEach((each) => void emit({ stars: each.number('.stars') })),
    },
  },
  joins: {
    offer: {
      per: 'product',
      of: ['product', 'price', 'reviews'],
      record: z.object({ ...named.shape, ...priced.shape, stars: z.array(z.number()), missing: z.int() }),
      run({ inputs, missing, emit }) {
        const [product, price, ...reviews] = inputs.map(({ records }) => records);
        const stars = reviews.flat().map((review) => rated.parse(review).stars);
        emit({ ...named.parse(product?.[0]), ...priced.parse(price?.[0]), stars, missing: missing.count });
      },
    },
    report: {
      of: ['offer'],
      async run({ counts, records, emit }) {
        let sum = 0;
        for await (const { price } of records('offer')) sum += price;
        emit({ offers: counts.offer, sum });
      },
    },
  },
});

test('saved pages of a shop give the records of its steps, of its groups and of the run', async () => {
  const pages = [LIST, product(1), price(1), reviews(1), product(2), price(2), reviews(2)];
  const stars = [{ stars: 4 }, { stars: 5 }];
  expect(await testCrawler(offers, { pages })).toEqual({
    items: {
      list: [],
      product: [{ name: 'Pot 2' }, { name: 'Pot 1' }],
      price: [{ price: 20.5 }, { price: 10.5 }],
      reviews: [...stars, ...stars],
      offer: [
        { name: 'Pot 2', price: 20.5, stars: [4, 5], missing: 0 },
        { name: 'Pot 1', price: 10.5, stars: [4, 5], missing: 0 },
      ],
      report: [{ offers: 2, sum: 31 }],
    },
    counts: { list: 1, product: 2, price: 2, reviews: 2, offer: 2, report: 1 },
    missing: [{ step: 'list', url: `${SHOP}/all/?page=2`, outcome: 'failed', reason: 'http_4xx' }],
    leftOut: [],
  });
});

test('a group can be tested from its owner alone, and pages that are not saved count as missing', async () => {
  const found = await testCrawler(offers, { pages: [product(1), price(1)], step: 'product' });
  expect(found.items.offer).toEqual([{ name: 'Pot 1', price: 10.5, stars: [], missing: 1 }]);
  expect(found.missing).toEqual([
    { step: 'reviews', url: `${SHOP}/p/1/reviews`, outcome: 'failed', reason: 'http_4xx' },
  ]);
});

const part = z.object({ n: z.number() });
const emits = ({ kept, emit }: { kept: { n: number }; emit: (item: { n: number }) => void }) => emit({ n: kept.n });

/** An owner with two parts, a seller that is apart, and layers of joins that emit what they got. */
const layered = defineCrawler({
  name: 'layered',
  steps: {
    list: { to: ['owner'], run: ({ page, follow }) => follow('owner', page.links('a')) },
    owner: {
      to: ['left', 'right', 'seller', 'owner', 'rare'],
      run({ page, follow, emit }) {
        emit({ at: page.url });
        for (const n of [3, 1, 2]) follow('right', `/part/${n}`, { kept: { n } });
        follow('left', ['/part/9', 'https://elsewhere.example/'], { kept: { n: 9 } });
        follow('seller', '/seller');
        follow('owner', page.links('.related'));
        follow('rare', '/rare');
      },
    },
    left: { keeps: part, record: part, run: emits },
    right: { keeps: part, record: part, fallback: 'instead', run: emits },
    instead: { keeps: part, record: part, run: ({ kept, emit }) => emit({ n: -kept.n }) },
    seller: { apart: true, run: ({ emit }) => emit({ seller: true }) },
    rare: { when: { exists: 'sku' }, run() {} },
  },
  joins: {
    both: {
      per: 'owner',
      of: ['parts', 'left', 'owner'],
      run: ({ owner, inputs, missing, emit }) => emit({ owner, inputs, missing }),
    },
    parts: {
      per: 'owner',
      of: ['right'],
      run: ({ inputs, emit }) => emit(inputs.flatMap(({ records }) => records).length),
    },
    total: {
      of: ['parts'],
      async run({ counts, records, emit }) {
        const all: unknown[] = [];
        for await (const row of records('parts')) all.push(row);
        emit({ counts, all });
      },
    },
  },
});

const text = (url: string, html = '') => ({ url: `${SHOP}${url}`, html });
const PARTS = [text('/part/1'), text('/part/2'), text('/part/9'), text('/seller')];

test('joins run in layers on inputs sorted by step and URL; a page that is apart or a related owner is in no group', async () => {
  const pages = [text('/', '<a href=/1>1</a>'), text('/1', '<a class=related href=/2></a>'), ...PARTS];
  const { items, counts, leftOut, missing } = await testCrawler(layered, { pages });
  const at = { kept: {}, url: `${SHOP}/1` };
  expect(items.both).toEqual([
    {
      owner: at,
      inputs: [
        { step: 'parts', ...at, records: [3] },
        { step: 'left', url: `${SHOP}/part/9`, kept: { n: 9 }, records: [{ n: 9 }] },
        { step: 'owner', ...at, records: [{ at: `${SHOP}/1` }] },
      ],
      missing: { count: 0, outcomes: {}, first: [] },
    },
  ]);
  // Part 3 isn't saved: its fallback takes over, under its own name, and counts for the step.
  expect(items).toMatchObject({ right: [{ n: 1 }, { n: 2 }], instead: [{ n: -3 }], seller: [{ seller: true }] });
  const done = { list: 1, owner: 1, left: 1, right: 3, instead: 0, seller: 1, rare: 0, parts: 1, both: 1 };
  expect(items.total).toEqual([{ counts: { ...done, total: 0 }, all: [3] }]);
  expect(counts).toEqual({ ...done, total: 1 });
  expect(leftOut).toEqual([
    { step: 'rare', url: `${SHOP}/rare` },
    { step: 'left', url: 'https://elsewhere.example/', kept: { n: 9 } },
  ]);
  // The related owner failed: it has no joins.
  expect(missing).toEqual([{ step: 'owner', url: `${SHOP}/2`, outcome: 'failed', reason: 'http_4xx' }]);
});

test('members are read again for each group, but a page that is apart only once', async () => {
  const pages = [text('/', '<a href=/1>1</a><a href=/2>2</a>'), text('/1'), text('/2'), ...PARTS];
  const { counts } = await testCrawler(layered, { pages });
  expect(counts).toMatchObject({ owner: 2, left: 2, right: 6, seller: 1, parts: 2, both: 2, total: 1 });
});

test('a page with another status or type ends as in a crawl', async () => {
  const gone = Page.fromHtml('', { url: `${SHOP}/part/9`, status: 500 });
  const picture = Page.fromHtml('', { url: `${SHOP}/seller`, contentType: 'image/png' });
  const pages = [text('/1'), { page: gone }, { page: picture }];
  const { missing, items } = await testCrawler(layered, { pages, step: 'owner' });
  expect(missing).toEqual([
    { step: 'left', url: `${SHOP}/part/9`, outcome: 'failed', reason: 'http_5xx' },
    { step: 'seller', url: `${SHOP}/seller`, outcome: 'skipped', reason: 'content_type' },
  ]);
  expect(items.both).toMatchObject([{ missing: { count: 1, outcomes: { failed: 1 } } }]);
});

test('a page with a status that its step takes is read as in a crawl', async () => {
  const crawler = defineCrawler({
    name: 'taking',
    steps: {
      start: { to: ['part'], run: ({ page, follow }) => follow('part', page.links()) },
      part: { statuses: [404], run: ({ page, emit }) => emit({ status: page.status, heading: page.get('h1') }) },
    },
  });
  const answer = (n: number, status: number, contentType = 'text/html') => ({
    page: Page.fromHtml('<h1>Sold out</h1>', { url: `${SHOP}/part/${n}`, status, contentType }),
  });
  const list = text('/', '<a href=/part/1>1</a><a href=/part/2>2</a><a href=/part/3>3</a>');
  const pages = [list, answer(1, 404), answer(2, 410), answer(3, 404, 'image/png')];
  const { items, counts } = await testCrawler(crawler, { pages });
  expect(items.part).toEqual([{ status: 404, heading: 'Sold out' }]);
  expect(counts).toMatchObject({ part: 1 });
});

const single = (run: (about: { emit: (item: unknown) => void }) => void, join: object = {}) =>
  defineCrawler({
    name: 'single',
    steps: { page: { run } },
    joins: { sum: { per: 'page', of: ['page'], run() {}, ...join } },
  } as never);
const boom = () => {
  throw new Error('boom');
};
const large = ({ emit }: { emit: (item: unknown) => void }) => emit({ text: 'x'.repeat(1_048_577) });
const short = defineCrawler({ name: 'short', step: () => ({}) });

// biome-ignore format: a table
test.each<[string, ReturnType<typeof single>, object, RegExp]>([
  ['a step that throws',         single(boom), { pages: [text('/1')] }, /tested-run\.test\.ts:\d+, step page: boom, in .* \(https:\/\/shop\.example\/1\)$/],
  ['a join that throws',         single(() => {}, { run: boom }), { pages: [text('/1')] }, /tested-run\.test\.ts:\d+, join sum: boom, in .* \(https:\/\/shop\.example\/1\)$/],
  ['a join with too much input', single(large), { pages: [text('/1')] }, /^join sum \(https:\/\/shop\.example\/1\): the inputs of its group take more than 1 MiB/],
  ['no pages', single(boom), { pages: [] }, /^expected pages to be a list of at least one page$/],
  ['pages by their URLs', single(boom), { pages: { 'https://shop.example/1': '' } }, /^expected pages to be a list of at least one page$/],
  ['two pages of one URL', single(boom), { pages: [text('/1'), text('/1#a')] }, /^expected one page for each URL, got two of https:\/\/shop\.example\/1/],
  ['a seed that is no URL', single(boom), { pages: [text('/1')], seeds: ['/1'] }, /^expected a seed such as https:\/\/www\.example\.com\/, got "\/1"/],
  ['a crawler of one function', short, { pages: [text('/1')] }, /^crawler short has no steps: test its pages one by one/],
])('testCrawler refuses a run of pages with %s', async (_, crawler, options, said) => {
  await expect(testCrawler(crawler, options as never)).rejects.toThrow(said);
});

test('a run join gets only the items of the step it asks for, even if steps share a fallback with tasks of its own', async () => {
  const failing = {
    fallback: 'gone' as const,
    run() {
      throw new Error('no');
    },
  };
  const crawler = defineCrawler({
    name: 'gone',
    steps: {
      list: {
        to: ['product', 'seller', 'gone'],
        run({ follow }) {
          follow('product', '/p/1');
          follow('seller', '/s/1');
          follow('gone', '/g/1');
        },
      },
      product: failing,
      seller: failing,
      gone: { run: ({ page, emit }) => emit({ at: new URL(page.url).pathname }) },
    },
    joins: {
      report: {
        of: ['product', 'seller', 'gone'],
        async run({ counts, records, emit }) {
          const found: unknown[] = [];
          for (const step of ['product', 'seller', 'gone'] as const)
            for await (const item of records(step)) found.push([step, counts[step], item]);
          emit({ found });
        },
      },
    },
  });
  const pages = ['/all/', '/p/1', '/s/1', '/g/1'].map((path) => ({ url: `${SHOP}${path}`, html: '<p>' }));
  const { items } = await testCrawler(crawler, { pages });
  const found = [
    ['product', 1, { at: '/p/1' }],
    ['seller', 1, { at: '/s/1' }],
    ['gone', 1, { at: '/g/1' }],
  ];
  expect(items.report).toEqual([{ found }]);
});

test('pages of one URL with different POSTs are told apart by method and body', async () => {
  const paging = defineCrawler({
    name: 'paging',
    steps: {
      list: {
        to: ['list'],
        run({ page, emit, follow }) {
          emit({ name: page.get('h1') });
          follow('list', page.form('form'));
        },
      },
    },
  });
  const url = `${SHOP}/list`;
  const next = (page: number): string => `<form method=post><input type=hidden name=page value=${page}></form>`;
  const body = (page: number) => new URLSearchParams({ page: String(page) });
  const pages = [
    { url, html: `<h1>1</h1>${next(2)}` },
    { url, method: 'POST', body: body(2), html: `<h1>2</h1>${next(3)}` },
    { url, method: 'POST', body: body(3), html: '<h1>3</h1>' },
  ] as const;
  const { items } = await testCrawler(paging, { pages });
  expect(items.list).toEqual([{ name: '1' }, { name: '2' }, { name: '3' }]);
  const [first] = pages;
  const { follows } = await testCrawler(paging, first);
  expect(follows).toMatchObject([{ step: 'list', url, request: { method: 'POST', body: 'page=2' } }]);
  const twice = testCrawler(paging, { pages: [...pages, pages[1]] });
  await expect(twice).rejects.toThrow('got two of https://shop.example/list: say which `url`, or `method` and `body`');
});
