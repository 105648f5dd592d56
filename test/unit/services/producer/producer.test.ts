import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Seed } from '../../../../services/producer/seeds.ts';
import { MAX_ROBOTS_BYTES } from '../../../../shared/task/robots/robots-sitemaps.ts';
import { folder, maybe, openSite, pages, serve, sitemapIndex, urlset } from './documents.ts';
import { RUN_OPTIONS, setup } from './setup.ts';

test('the pages of a sitemap are offered, and the run is sealed', async () => {
  const site = await openSite();
  const { produce, parts, waiting } = setup();
  const producer = produce();
  const progress = await producer.produce([maybe(serve(site, '/s.xml', urlset(pages(512))))]);
  expect(progress).toEqual({
    state: 'done',
    source: undefined,
    offered: 512,
    accepted: 512,
    known: 0,
    malformed: 0,
    older: { pages: 0, sitemaps: 0 },
    unwanted: 0,
    sitemaps: 1,
    problems: 0,
  });
  expect(await parts.runs.progress('r')).toMatchObject({ state: 'running', sealed: true, discovered: 512 });
  expect((await waiting()).sort()).toEqual(pages(512).sort());
});

test('a document that waits for a paused host is reported once', async () => {
  const site = await openSite();
  const { parts, produce, hints, waiting } = setup();
  await parts.hostGate.pause(new URL(site.url('/')).host, 510_000, '27 answers of 500 in a row');
  await produce().produce([maybe(site.url('/sitemap.xml'))]);
  expect(hints).toEqual([
    `${site.url('/sitemap.xml')} is read in 8 min 30 s or later: its host must not be asked before then (status says why)`,
  ]);
  expect(await waiting()).not.toEqual([]);
});

test('a second pass finds nothing new', async () => {
  const site = await openSite();
  const { produce, parts } = setup();
  const seed = maybe(serve(site, '/s.xml', urlset(pages(512))));
  await produce().produce([seed]);
  const progress = await produce({ run: 's', producer: 'q' }).produce([seed]);
  expect(progress).toMatchObject({ state: 'done', offered: 512, accepted: 0, known: 512 });
  expect(await parts.runs.progress('s')).toMatchObject({ state: 'finished', discovered: 0, duplicate: 512 });
});

test('an existing run is joined with its own options, and stays open until every producer has sealed', async () => {
  const site = await openSite();
  const { produce, parts, clock } = setup();
  await parts.runs.open('r', { ...RUN_OPTIONS, intervalMs: 7_000, dedup: 'run' }, 'other');
  const opened: unknown[] = [];
  const on = { opened: (...args: unknown[]) => void opened.push(args) };
  const index = sitemapIndex([serve(site, '/1.xml', urlset(pages(2))), serve(site, '/2.xml', urlset(pages(3)))]);
  await produce({}, { on }).produce([maybe(serve(site, '/index.xml', index))]);
  expect(opened).toEqual([['joined', { ...RUN_OPTIONS, intervalMs: 7_000, dedup: 'run' }]]);
  expect(await parts.runs.progress('r')).toMatchObject({ sealed: false, producers: { open: 1, lost: 0 } });
  // The run's own interval applies to its sitemaps.
  expect(clock.sleeps.reduce((sum, ms) => sum + ms)).toBe(14_000);
});

test('the sitemaps of a site come from its robots.txt, or else from /sitemap.xml', async () => {
  const { produce, problems, hints, waiting } = setup();
  const named = await openSite();
  serve(named, '/robots.txt', 'User-agent: *\nSITEMAP: /mine.xml\nSitemap: /broken.xml', 'text/plain');
  serve(named, '/mine.xml', urlset(['https://example.com/named']));
  const usual = await openSite();
  serve(usual, '/sitemap.xml', urlset(['https://example.com/usual']));
  const bare = await openSite();
  const seeds = [named, usual, bare].map((site): Seed => ({ kind: 'site', url: site.url('/') }));
  expect(await produce().produce(seeds)).toMatchObject({ state: 'done', accepted: 3, sitemaps: 2, problems: 1 });
  expect(problems).toEqual([`${named.url('/broken.xml')} answered with status 404`]);
  expect(hints).toEqual([`${bare.url('/')}: no sitemap found; --follow follows its links`]);
  expect((await waiting()).sort()).toEqual([bare.url('/'), 'https://example.com/named', 'https://example.com/usual']);
  expect(named.count('/sitemap.xml')).toBe(0);
});

test('a run that follows links also offers the page of a site itself, whatever its sitemaps name', async () => {
  const { produce, parts, hints, waiting } = setup();
  const [partial, whole] = [await openSite(), await openSite()];
  serve(partial, '/sitemap.xml', urlset([partial.url('/landing')]));
  serve(whole, '/sitemap.xml', urlset([whole.url('/'), whole.url('/one')]));
  const seeds = [partial, whole].map((site): Seed => ({ kind: 'site', url: site.url('/') }));
  await produce({ runOptions: { ...RUN_OPTIONS, follow: true } }).produce(seeds);
  expect(await parts.runs.progress('r'), 'a page that a sitemap names is no duplicate').toMatchObject({ duplicate: 0 });
  expect((await waiting()).toSorted()).toEqual(
    [partial.url('/landing'), partial.url('/'), whole.url('/'), whole.url('/one')].toSorted(),
  );
  expect(hints).toEqual([]);
});

test('only the beginning of a robots.txt that is too long counts', async () => {
  const site = await openSite();
  const { produce, waiting } = setup();
  const cut = '\nSitemap: /mine';
  const start = 'Sitemap: /mine.xml\n'.padEnd(MAX_ROBOTS_BYTES - cut.length, '#');
  serve(site, '/robots.txt', `${start}${cut}-too.xml`, 'text/plain');
  serve(site, '/mine.xml', urlset(['https://example.com/named']));
  await produce().produce([{ kind: 'site', url: site.url('/') }]);
  expect(await waiting()).toEqual(['https://example.com/named']);
  expect(site.count('/mine'), 'the name that was cut off').toBe(0);
});

test('a site that does not answer is offered as a page and reported', async () => {
  const { produce, problems, hints, waiting } = setup();
  await produce().produce([{ kind: 'site', url: 'http://127.0.0.1:1/' }]);
  expect(problems).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:1\/robots\.txt could not be fetched: /)]);
  expect(hints).toEqual([]);
  expect(await waiting()).toEqual(['http://127.0.0.1:1/']);
});

test.each<[number, number, string[], string[]]>([
  [200, 0, ['https://example.com/named'], []],
  [503, 2, ['https://example.com/named'], []],
  // Its page waits, like its host.
  [503, 3, [], ['/robots.txt answered with status 503; the sitemaps that it names are not read']],
  [404, 3, ['https://example.com/usual'], []],
])(
  'with a robots.txt that answers %i to its first %i requests, the site offers %j',
  async (status, times, taken, told) => {
    const { produce, problems, hints, waiting, clock } = setup();
    const site = await openSite();
    serve(site, '/mine.xml', urlset(['https://example.com/named']));
    serve(site, '/sitemap.xml', urlset(['https://example.com/usual']));
    site.on('/robots.txt', (_, response) => {
      const isOver = site.count('/robots.txt') > times;
      response.writeHead(isOver ? 200 : status).end('Sitemap: /mine.xml');
    });
    expect(await produce().produce([{ kind: 'site', url: site.url('/') }])).toMatchObject({ accepted: 1 });
    expect(await waiting()).toEqual(taken);
    expect(problems).toEqual(told.map((path) => site.url(path)));
    expect(hints).toEqual([]);
    expect(site.count('/sitemap.xml')).toBe(status === 404 ? 1 : 0);
    if (status === 503) expect(clock.sleeps.reduce((sum, ms) => sum + ms)).toBe(45_000);
  },
);

test('a seed that may be a sitemap but is not is offered as a page, whatever it answered', async () => {
  const site = await openSite();
  const { produce, problems, hints, waiting } = setup();
  const [feed, gone] = [serve(site, '/feed/', '<!doctype html><html>'), site.url('/gone.xml')];
  await produce().produce([maybe(feed), maybe(gone), { kind: 'page', url: site.url('/page/1') }]);
  expect(hints).toEqual([`${feed} is an HTML page, not a sitemap: it is crawled as a page`]);
  expect(problems).toEqual([`${gone} answered with status 404`]);
  expect((await waiting()).sort()).toEqual([feed, gone, site.url('/page/1')]);
});

test('lists are read from standard input and files, and lines that are not URLs count as malformed', async () => {
  const { produce, parts } = setup();
  const path = join(folder(), 'urls');
  writeFileSync(path, gzipSync('# packed\nhttps://example.com/1\nhttps://example.com/4\n'));
  const input = Readable.from([
    Buffer.from('https://example.com/1\nexample'),
    Buffer.from('.com\n\nhttps://example.com/3'),
  ]);
  const progress = await produce({}, { input }).produce([{ kind: 'input' }, { kind: 'list', path }]);
  expect(progress).toMatchObject({ offered: 5, accepted: 4, known: 1, malformed: 1, sitemaps: 0 });
  expect(await parts.runs.progress('r')).toMatchObject({ discovered: 4, duplicate: 1 });
});

test.each(['list', 'file'] as const)(
  'a %s that is a table without a URL column is reported and not read; a line with a tab is malformed',
  async (kind) => {
    const { produce, problems, hints, waiting } = setup();
    const write = (name: string, text: string) => {
      const path = join(folder(), name);
      writeFileSync(path, text);
      return path;
    };
    const table = write('table', 'id,link\n1,https://example.com/1\n');
    const column = write('column', 'title,url\n"two",https://example.com/2\n');
    const tab = write('tab', 'https://example.com/3\nhttps://example.com/4\ttitle\n');
    const empty = write('empty', '# none\n\n');
    const progress = await produce().produce([table, column, tab].map((path): Seed => ({ kind, path })));
    expect(progress).toMatchObject({ accepted: 3, malformed: 1, problems: 1 });
    expect(problems).toEqual([
      `${table} looks like a table, not a list of URLs: name its URL column url in the header line, or give only the URLs, one per line`,
    ]);
    expect((await waiting()).filter((url) => !url.includes('/4'))).toEqual([
      'https://example.com/2',
      'https://example.com/3',
    ]);
    expect(hints).toEqual([]);
    const other = setup();
    await other.produce().produce([{ kind, path: empty }]);
    expect([...other.hints, ...other.problems]).toEqual([expect.stringMatching(/empty (?:has no URLs|is empty)$/)]);
  },
);

test('a limit holds for all seeds together: the rest is counted, and needless sitemaps are not fetched', async () => {
  const site = await openSite();
  const { produce, parts, hints } = setup();
  const maps = ['/1.xml', '/2.xml', '/3.xml'].map((path) =>
    serve(site, path, urlset([1, 2, 3].map((n) => `https://example.com${path}/${n}`))),
  );
  const index = serve(site, '/index.xml', sitemapIndex(maps));
  const runOptions = { ...RUN_OPTIONS, limit: 4 };
  const pages = [1, 2, 3].map((n): Seed => ({ kind: 'page', url: `https://example.com/${n}` }));
  const progress = await produce({ runOptions }).produce([...pages, maybe(index)]);
  expect(progress).toMatchObject({ state: 'done', accepted: 4 });
  const { discovered, leftOut } = (await parts.runs.progress('r')) ?? {};
  expect([discovered, leftOut?.limit]).toEqual([4, 2 + 3 * (site.count('/2.xml') + site.count('/3.xml'))]);
  expect(site.count('/3.xml')).toBe(0);
  expect(hints.join()).toMatch(
    /index\.xml: [12] of its sitemaps not read, since the run has reached its --limit of URLs$/,
  );
});

test('relative locations in a sitemap are resolved, and those that are not URLs count as malformed', async () => {
  const site = await openSite();
  const { produce, waiting } = setup();
  const sitemap = serve(site, '/maps/s.xml', urlset(['a', '/b', '//', 'mailto:c']));
  const progress = await produce().produce([maybe(sitemap)]);
  expect(progress).toMatchObject({ offered: 4, accepted: 4, malformed: 2 });
  expect((await waiting()).toSorted()).toEqual(['//', site.url('/b'), site.url('/maps/a'), 'mailto:c']);
});

test('routing rules decide the queue of a URL', async () => {
  const { produce, parts } = setup();
  const input = Readable.from([Buffer.from('https://example.com/news/1\nhttps://example.com/%7ea')]);
  await produce({}, { input }).produce([{ kind: 'input' }]);
  const { tasks } = await parts.frontier.release({ limit: 10, window: 10, unpaced: true });
  expect(tasks.map(({ task }) => task)).toEqual([
    expect.objectContaining({ url: 'https://example.com/news/1', queue: 'priority', step: '', depth: 0 }),
    expect.objectContaining({ url: 'https://example.com/%7ea', mark: 'https://example.com/~a', queue: 'normal' }),
  ]);
});
