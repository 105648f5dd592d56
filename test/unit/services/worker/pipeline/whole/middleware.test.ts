import { expect, test } from 'vitest';
import { defineMiddleware, type Middleware } from '../../../../../../shared/crawler/around/middleware.ts';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import { Page } from '../../../../../../shared/crawler/page.ts';
import { testCrawler } from '../../../../../../shared/crawler/testing/test-crawler.ts';
import { systemClock } from '../../../../../../shared/runtime/clock.ts';
import { setup } from '../../setup.ts';

/** Works on these paths of a site with a crawler that has this middleware. Returns the outcome of each. */
async function crawled(middleware: readonly Middleware[], paths: readonly string[]) {
  const crawler = defineCrawler({
    name: 'shop',
    middleware,
    steps: { start: { run: ({ page, emit }) => emit({ title: page.title, text: page.text.length }) } },
  });
  const world = await setup({ crawler });
  const { site } = world;
  site.on('/echo', ({ headers }, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${headers['x-key'] ?? 'none'}</title>`);
  });
  site.on('/gone', (_, response) => response.writeHead(404).end());
  await world.offer(...paths);
  const pipeline = world.pipeline({ stepTimeoutMs: 300, clock: systemClock });
  for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  const records = world.sink.records.map(({ url, ...record }) => {
    const path = new URL(url).pathname;
    if (record.outcome === 'done') return [path, record.data];
    return [path, record.outcome, record.reason, record.error];
  });
  return { ...world, records };
}

test('hooks of each kind are called by weight, and those of equal weight as listed', async () => {
  const order: string[] = [];
  const note = (name: string, weight?: number): Middleware => ({
    name,
    ...(weight === undefined ? {} : { weight }),
    beforeFetch: () => void order.push(`${name} before`),
    afterFetch: async () => void order.push(`${name} after`),
    transform: () => void order.push(`${name} transform`),
    beforeStore: () => void order.push(`${name} store`),
  });
  await crawled([note('heavy', 10), note('a'), note('b'), note('light', -1)], ['/echo']);
  const names = ['light', 'a', 'b', 'heavy'];
  expect(order).toEqual(['before', 'after', 'transform', 'store'].flatMap((what) => names.map((n) => `${n} ${what}`)));
});

test('`beforeFetch` can add headers, change the URL, answer without a request, or skip the page', async () => {
  const { records, site, runs } = await crawled(
    [
      {
        name: 'requests',
        beforeFetch: ({ url }) => {
          if (url.includes('/old')) return { url: '/echo' };
          if (url.includes('/mine')) return { answer: { body: '<title>ours</title>' } };
          if (url.includes('/no')) return { skip: 'sold out' };
          return { headers: { 'X-Key': 'k' } };
        },
      },
    ],
    ['/echo', '/old', '/mine', '/no'],
  );
  expect(records.toSorted()).toEqual([
    ['/echo', { title: 'k', text: expect.any(Number) }],
    ['/mine', { title: 'ours', text: 19 }],
    ['/no', 'skipped', 'middleware', 'sold out'],
    ['/old', 'skipped', 'duplicate', expect.stringContaining('which is known')],
  ]);
  expect(site.requests.map(({ path }) => path)).toEqual(['/echo', '/echo']);
  expect(await runs.progress('r')).toMatchObject({ done: 2, skipped: 2, reasons: { skipped: { middleware: 1 } } });
});

test('`afterFetch` can replace or skip an answer, even a 404', async () => {
  const { records } = await crawled(
    [
      {
        name: 'answers',
        afterFetch(page) {
          if (page.status === 404) return { skip: 'no longer sold' };
          if (page.title === 'none') return { answer: { body: page.text.replace('none', 'some') } };
          return undefined;
        },
      },
    ],
    ['/echo', '/gone', '/page/1'],
  );
  expect(records.toSorted()).toMatchObject([
    ['/echo', { title: 'some' }],
    ['/gone', 'skipped', 'middleware', 'no longer sold'],
    ['/page/1', { title: expect.any(String) }],
  ]);
});

test('`transform` can change or drop an item, and `beforeStore` can change a record or skip its page', async () => {
  const { records, sink } = await crawled(
    [
      { name: 'items', transform: (item) => (item.title === 'none' ? null : { ...item, shop: 1 }) },
      {
        name: 'records',
        beforeStore: ({ data, url }) => (url.endsWith('/2') ? { skip: 'enough' } : { title: null, data: [data, 'x'] }),
      },
    ],
    ['/echo', '/page/1', '/page/2'],
  );
  expect(records.toSorted()).toMatchObject([
    ['/echo', [null, 'x']],
    ['/page/1', [{ shop: 1, title: expect.any(String) }, 'x']],
    ['/page/2', 'skipped', 'middleware', 'enough'],
  ]);
  expect(sink.records.find(({ url }) => url.endsWith('/echo'))).toMatchObject({ title: null, items: 0 });
});

// biome-ignore format: a table
test.each<[string, Middleware, RegExp]>([
  ['throws',                { name: 'm', beforeFetch: () => { throw new Error('no key'); } },  /middleware\.test\.ts:\d+, middleware m \(beforeFetch\): no key/],
  ['takes too long',        { name: 'm', afterFetch: () => new Promise<undefined>(() => {}) }, /crawler page, middleware m \(afterFetch\): it took longer than 0\.3 s \(STEP_TIMEOUT\)/],
  ['returns no item',       { name: 'm', transform: () => 5 as never },                        /middleware m \(transform\): expected it to return an item, nothing or null/],
  ['returns an unknown field',   { name: 'm', beforeStore: () => ({ url: '/x' }) as never },        /middleware m \(beforeStore\): it returned url; there are skip, data, title, content/],
  ['stores no title',       { name: 'm', beforeStore: () => ({ title: 5 }) as never },         /middleware m \(beforeStore\): expected title to be a text or null/],
  ['stores no content',     { name: 'm', beforeStore: () => ({ content: { a: 1 } }) as never }, /middleware m \(beforeStore\): expected content to be a text/],
  ['gives a bad header',    { name: 'm', beforeFetch: () => ({ headers: { Host: 'x' } }) },    /middleware m \(beforeFetch\): header "Host": can't be set/],
  ['gives a bad URL',       { name: 'm', beforeFetch: () => ({ url: 'ftp://a/' }) },           /middleware m \(beforeFetch\): expected url to be an http or https URL/],
  ['gives no body',         { name: 'm', afterFetch: () => ({ answer: {} }) as never },        /middleware m \(afterFetch\): expected the body of its answer to be text or bytes/],
  ['gives no type',         { name: 'm', beforeFetch: () => ({ answer: { body: new Uint8Array(), contentType: 5 } }) as never }, /middleware m \(beforeFetch\): expected the contentType of its answer to be a text/],
  ['gives no reason',       { name: 'm', afterFetch: () => ({ skip: true }) as never },        /middleware m \(afterFetch\): expected skip to be a text that says why/],
])('a middleware that %s fails its page with an error that names it', async (_, middleware, error) => {
  const { records } = await crawled([middleware], ['/echo']);
  expect(records).toEqual([['/echo', 'failed', 'step', expect.stringMatching(error)]]);
});

// biome-ignore format: a table
test.each<[string, Middleware, RegExp]>([
  ['stores a Map',          { name: 'm', beforeStore: () => ({ data: new Map() }) },           /middleware m \(beforeStore\): data \(Map\) has no form in JSON: Object\.fromEntries/],
  ['stores a bigint',       { name: 'm', beforeStore: () => ({ data: { n: 1n } }) },           /middleware m \(beforeStore\): data\.n \(bigint\) has no form in JSON/],
  ['adds a Set to an item', { name: 'm', transform: (item) => void Object.assign(item, { tags: new Set() }) }, /middleware m \(transform\): item\.tags \(Set\) has no form in JSON/],
])('a middleware that %s fails its page with the reason schema', async (_, middleware, error) => {
  const { records } = await crawled([middleware], ['/echo']);
  expect(records).toEqual([['/echo', 'failed', 'schema', expect.stringMatching(error)]]);
});

test('a skip reason is cut at 2,000 characters in the record', async () => {
  const { records } = await crawled([{ name: 'm', afterFetch: () => ({ skip: 'x'.repeat(5_000_000) }) }], ['/echo']);
  expect(records).toEqual([['/echo', 'skipped', 'middleware', 'x'.repeat(2_000)]]);
});

test('a middleware may be an instance of a class', async () => {
  class Stamp {
    readonly name = 'stamp';
    #count = 0;
    transform(item: object) {
      return { ...item, number: ++this.#count };
    }
  }
  const { records } = await crawled([new Stamp()], ['/echo']);
  expect(records).toMatchObject([['/echo', { number: 1 }]]);
});

test('a page whose `beforeFetch` changes its URL in a circle fails', async () => {
  const { records, site } = await crawled(
    [{ name: 'm', beforeFetch: ({ url }) => ({ url: url.endsWith('/a') ? '/b' : '/a' }) }],
    ['/a'],
  );
  expect(records).toMatchObject([['/a', 'failed', 'redirects', expect.stringContaining('in a circle')]]);
  expect(site.requests).toEqual([]);
});

test('all problems with middleware are reported at once', () => {
  const middleware = [{}, { name: 'a' }, { name: 'b', before() {} }, { name: 'c', weight: '1', transform: 1 }] as never;
  expect(() => defineCrawler({ name: 'x', step: () => ({}), middleware })).toThrow(
    [
      'middleware 1: expected a name',
      'middleware a: expected one of beforeFetch, afterFetch, transform, beforeStore',
      'middleware b: there is no before; there are beforeFetch, afterFetch, transform, beforeStore',
      'middleware c: expected transform to be a function',
      'middleware c: expected weight to be a number',
    ]
      .map((problem) => `crawler x: ${problem}`)
      .join('\n'),
  );
});

test("testCrawler runs middleware, the folder's before the crawler's own", async () => {
  const crawler = defineCrawler({
    name: 'shop',
    secrets: ['KEY'],
    middleware: [{ name: 'own', transform: (item, { secrets }) => ({ ...item, own: secrets.KEY, was: item.folder }) }],
    steps: { start: { run: ({ page, emit }) => emit({ title: page.title }) } },
  });
  const middleware = defineMiddleware({
    name: 'folder',
    afterFetch: (page) => (page.text === '' ? { skip: 'empty' } : { answer: { body: page.text.toUpperCase() } }),
    transform: (item) => ({ ...item, folder: true }),
  });
  const html = '<title>a</title>';
  expect((await testCrawler(crawler, { html, middleware, secrets: { KEY: 'k' } })).items).toEqual([
    { title: 'A', folder: true, own: 'k', was: true },
  ]);
  expect(await testCrawler(crawler, { page: Page.fromHtml(''), middleware })).toEqual({
    ...{ items: [], follows: [], leftOut: [] },
    skipped: 'empty',
  });
});
