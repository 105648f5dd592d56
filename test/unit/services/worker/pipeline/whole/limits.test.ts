import { expect, test } from 'vitest';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import type { Page } from '../../../../../../shared/crawler/page.ts';
import type { Sink } from '../../../../../../shared/ports/sink.ts';
import { recordJson } from '../../../../../../shared/sinks/record-json.ts';
import { MAX_RECORD_BYTES } from '../../../../../../shared/task/task/page-limits.ts';
import { withMethods } from '../../../../../support/with-methods.ts';
import { deliver, setup } from '../../setup.ts';

const PROSE = 'Tea is made of leaves, and of water that has boiled, by people who have time.';

test('a page whose data is too large for a record fails with an error that gives its size', async () => {
  const crawler = defineCrawler({ name: 'greedy', step: () => ({ data: 'x'.repeat(MAX_RECORD_BYTES) }) });
  const world = await setup({ crawler });
  const sink = withMethods<Sink>(world.sink, {
    put: async (record) => {
      recordJson(record);
      await world.sink.put(record);
    },
  });
  expect(await world.pipeline({ sink }).handle(await deliver(world, '/page/1'))).toBe('ack');
  const error = expect.stringMatching(
    /^the record is too large: 419\d{4} bytes of JSON where at most 4194304 are allowed; let the crawler return less data$/,
  );
  expect(world.sink.records).toMatchObject([{ outcome: 'failed', reason: 'too_large', error }]);
  expect(await world.letters()).toMatchObject([{ reason: 'too_large', error }]);
});

test('a record names what was cut from its page, and has no such field if nothing was', async () => {
  const world = await setup();
  const links = Array.from({ length: 10_001 }, (_, n) => `<a href="/${n}">`).join('');
  world.site.on('/long', (_, response) => {
    response.setHeader('content-type', 'text/html').end(`<title>${'x'.repeat(3_000)}</title>${links}`);
  });
  for (const path of ['/long', '/page/1']) {
    expect(await world.pipeline({ maxBodyBytes: 1_000_000 }).handle(await deliver(world, path))).toBe('ack');
  }
  const [long, page] = world.sink.records;
  expect(long).toMatchObject({ title: 'x'.repeat(2_000), truncated: ['title', 'links'] });
  expect(page).not.toHaveProperty('truncated');
});

test('a large page is read while others are worked on, with the same result', async () => {
  const world = await setup({ run: { content: 'text' } });
  const html = `<title>Large</title>${'<p>one <a href="/1">two</a></p>\n'.repeat(20_000)}`;
  world.site.on('/large', (_, response) => void response.setHeader('content-type', 'text/html').end(html));
  const pipeline = world.pipeline({ maxBodyBytes: 1_000_000 });
  const large = pipeline.handle(await deliver(world, '/large'));
  const small = pipeline.handle(await deliver(world, '/page/1'));
  expect(await Promise.all([large, small])).toEqual(['ack', 'ack']);
  const record = world.sink.records.find(({ url }) => url === world.site.url('/large'));
  expect(record).toMatchObject({ title: 'Large', data: { links: [world.site.url('/1')] } });
  expect(record?.outcome === 'done' && record.content).toBe(Array(20_000).fill('one two').join('\n'));
});

test.each([
  ['text', 'Shop\nTea 3 €'],
  ['markdown', '## Shop\n\n[Tea](SITE/tea) **3 €**'],
  ['html', '<h2>Shop</h2><p><a href="tea">Tea</a> <b>3 €</b></p>'],
] as const)('content as %s is the same for a small and a large page', async (content, expected) => {
  const world = await setup({ run: { content } });
  const html = '<h2>Shop</h2><p><a href="tea">Tea</a> <b>3 €</b></p>';
  // A comment makes it large.
  const comment = `<!--${'x'.repeat(300_000)}-->`;
  for (const [path, body] of [
    ['/shop', html],
    ['/large', html + comment],
  ] as const) {
    world.site.on(path, (_, response) => void response.setHeader('content-type', 'text/html').end(body));
    expect(await world.pipeline({ maxBodyBytes: 1_000_000 }).handle(await deliver(world, path))).toBe('ack');
  }
  const said = expected.replace('SITE', world.site.origin);
  expect(world.sink.records.map((record) => record.outcome === 'done' && record.content)).toEqual([
    said,
    content === 'html' ? said + comment : said,
  ]);
});

test.each([
  [
    'an article',
    `<meta name=author content=Ann><nav><a href=/>Home</a></nav><h1>Tea</h1><time datetime=2026-11-21></time><p>${PROSE}</p>`,
    { contentOf: 'article', article: { byline: 'Ann', published: '2026-11-21', excerpt: PROSE } },
    `# Tea\n\n${PROSE}`,
  ],
  [
    'a main part but no article',
    '<nav>Home</nav><main><a href=/1>One</a></main>',
    { contentOf: 'main' },
    '[One](SITE/1)',
  ],
  ['neither', '<nav>Home</nav><a href=/1>One</a>', { contentOf: 'page' }, 'Home\n\n[One](SITE/1)'],
])(
  'content as article says whether it is the article, the main part or the page, on a page with %s',
  async (_, html, about, expected) => {
    const world = await setup({ run: { content: 'article' } });
    const comment = `<!--${'x'.repeat(300_000)}-->`;
    for (const [path, body] of [
      ['/tea', html],
      ['/large', html + comment],
    ] as const) {
      world.site.on(path, (_request, response) => void response.setHeader('content-type', 'text/html').end(body));
      expect(await world.pipeline({ maxBodyBytes: 1_000_000 }).handle(await deliver(world, path))).toBe('ack');
    }
    const said = expected.replace('SITE', world.site.origin);
    const kept = world.sink.records.map((record) =>
      Object.fromEntries(
        Object.entries(record).filter(([name]) => ['content', 'contentOf', 'article', 'truncated'].includes(name)),
      ),
    );
    expect(kept).toEqual([
      { ...about, content: said },
      { ...about, content: said },
    ]);
  },
);

/** Returns what the record of a page with this body names as cut. */
async function cutOf(body: string, given: Parameters<typeof setup>[0]): Promise<unknown> {
  const world = await setup(given);
  world.site.on('/a', (_, response) => void response.setHeader('content-type', 'text/html').end(body));
  expect(await world.pipeline({ maxBodyBytes: 2_000_000 }).handle(await deliver(world, '/a'))).toBe('ack');
  const [record] = world.sink.records;
  return record?.outcome === 'done' ? record.truncated : record;
}

// biome-ignore format: a table
test.each([
  ['too much text',     `<p>${'word '.repeat(250_000)}</p>`],
  ['too much code',     `<pre>${'word '.repeat(250_000)}</pre>`],
  ['too many elements', `${'<b></b>'.repeat(50_001)}<p>word</p>`],
  ['too wide a table',  `<table><tr><th>x</th></tr>${'<tr><td colspan=1000>x</td></tr>'.repeat(51)}</table>`],
])('a record says that its markdown is cut for a page with %s', async (_, body) => {
  expect(await cutOf(body, { run: { content: 'markdown' } })).toEqual(['content']);
});

test('a record says so if its article, or the markdown that its step took, was cut; text is never cut', async () => {
  const body = `<p>${'word '.repeat(250_000)}</p>`;
  expect(await cutOf(body, { run: { content: 'article' } })).toEqual(['content']);
  expect(await cutOf(body, { run: { content: 'text' } })).toBeUndefined();
  for (const made of [(page: Page) => page.markdown(), (page: Page) => page.article?.markdown]) {
    const crawler = defineCrawler({ name: 'whole', step: (page) => ({ data: made(page)?.length }) });
    expect(await cutOf(body, { crawler })).toEqual(['tree']);
  }
});

test('the content of a page that is not HTML is its body as text in every format', async () => {
  for (const content of ['text', 'markdown', 'article', 'html'] as const) {
    const world = await setup({ run: { content } });
    world.site.on('/a.txt', (_, response) => void response.setHeader('content-type', 'text/plain').end('# a *b*'));
    expect(await world.pipeline().handle(await deliver(world, '/a.txt'))).toBe('ack');
    const [record] = world.sink.records;
    expect(record).toMatchObject({ content: '# a *b*', ...(content === 'article' ? { contentOf: 'page' } : {}) });
    expect(record).not.toHaveProperty('article');
  }
});

test('an error message of a crawler is cut at 2,000 characters in the record', async () => {
  const crawler = defineCrawler({
    name: 'talkative',
    step: () => {
      throw new Error('x'.repeat(5_000_000));
    },
  });
  const world = await setup({ crawler });
  expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
  const [record] = world.sink.records;
  expect(record?.outcome === 'failed' && record.error?.length).toBe(2_000);
});

test('links that a crawler returns beyond the limit of a page are cut, and the record says so', async () => {
  const crawler = defineCrawler({
    name: 'links',
    step: (page) => ({
      links: Array.from({ length: 10_002 }, (_, n) => `${page.url}?${n === 0 ? 'x'.repeat(8_192) : n}`),
    }),
  });
  const world = await setup({ crawler, run: { follow: true, maxPages: 100_000 } });
  expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 10_001, done: 1 });
  expect(world.sink.records).toMatchObject([{ truncated: ['links'] }]);
});

test.each([
  ['a URL of the maximum length', (site: string) => [`${site}?${'x'.repeat(8_191 - site.length)}`], 1, false],
  ['a URL that is longer', (site: string) => ['/2', `${site}?${'x'.repeat(8_192 - site.length)}`, '/3'], 2, true],
  ['a relative URL that is longer', () => [`?${'x'.repeat(8_192)}`], 0, true],
  [
    'a data URL and a mailto link',
    () => [`data:image/png;base64,${'x'.repeat(2_000_000)}`, '/2', 'mailto:a@b.test'],
    1,
    false,
  ],
  ['more links than the limit of a page', () => Array.from({ length: 10_001 }, (_, n) => `/p/${n}`), 10_000, true],
])(
  'links of a step are followed up to the limits, and cut ones are reported: %s',
  async (_, links, followed, isCut) => {
    const crawler = defineCrawler({
      name: 'links',
      steps: {
        list: { to: ['next'], run: ({ page, follow }) => follow('next', links(page.url)) },
        next: { run() {} },
      },
    });
    const world = await setup({ crawler, run: { maxPages: 100_000 } });
    expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
    expect(await world.runs.progress('r')).toMatchObject({ discovered: 1 + followed, done: 1 });
    const [record] = world.sink.records;
    expect(record !== undefined && 'truncated' in record ? record.truncated : []).toEqual(isCut ? ['links'] : []);
    const said = world.log.lines.filter((line) => line.startsWith('warn'));
    expect(said).toEqual(
      isCut ? [expect.stringContaining('a step names more links of a page than can be followed')] : [],
    );
  },
);
