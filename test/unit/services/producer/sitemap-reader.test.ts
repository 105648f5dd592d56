import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { DocumentFetcher } from '../../../../services/producer/documents/document-fetcher.ts';
import type { SeedEvent } from '../../../../services/producer/seed-event.ts';
import { SitemapDocument } from '../../../../services/producer/sitemaps/sitemap-document.ts';
import { SitemapReader, type SitemapTree } from '../../../../services/producer/sitemaps/sitemap-reader.ts';
import type { TestSite } from '../../../support/site.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { folder, openSite, pages, serve, sitemapIndex, urlset } from './documents.ts';
import { HurriedClock } from './hurried-clock.ts';
import { openFetcher } from './setup.ts';

function setup({
  maxSitemapBytes = 1_000_000,
  maxSitemaps = 100,
  maxNamesLength = 1_000_000,
  signal = new AbortController().signal,
} = {}) {
  const clock = new HurriedClock();
  const documents = new DocumentFetcher({
    fetcher: openFetcher(),
    hostGate: openLocalParts({ clock }).gate,
    clock,
    limit: { intervalMs: 0, concurrency: 1 },
    holder: 'test',
    random: () => 0.5,
  });
  const reader = new SitemapReader({ documents, maxSitemapBytes, maxSitemaps, maxNamesLength, signal });
  return { clock, reader };
}

/** Reads everything found, and the kind of the document. */
async function readAll(found: AsyncGenerator<SeedEvent, SitemapTree, void>) {
  const urls: string[] = [];
  const again: string[] = [];
  const problems: string[] = [];
  for (;;) {
    const { done, value } = await found.next();
    if (done === true) return { urls, again, problems, tree: value };
    if (value.kind === 'entries') (value.again ? again : urls).push(...value.entries.map(({ loc }) => loc));
    if (value.kind === 'problem') problems.push(`${value.source} ${value.problem}`);
  }
}

const paths = (site: TestSite): string[] => site.requests.map(({ path }) => path);

test('an index of packed and unpacked sitemaps gives all their pages', async () => {
  const site = await openSite();
  const { reader } = setup();
  const plain = serve(site, '/1.xml', urlset(pages(1_000, 'https://example.com/a')));
  const packed = serve(site, '/2.xml.gz', gzipSync(urlset(pages(1_000, 'https://example.com/b'))), 'application/gzip');
  const list = serve(site, '/3.txt', pages(10, 'https://example.com/c').join('\n'), 'text/plain');
  const index = serve(site, '/index.xml', sitemapIndex([plain, packed, list]));
  const { urls, problems, tree } = await readAll(reader.readUrl(index));
  expect(urls).toEqual([
    ...pages(1_000, 'https://example.com/a'),
    ...pages(1_000, 'https://example.com/b'),
    ...pages(10, 'https://example.com/c'),
  ]);
  expect({ problems, tree, sitemaps: reader.sitemaps }).toEqual({
    problems: [],
    tree: { kind: 'index', pages: 2_010 },
    sitemaps: 4,
  });
  expect(site.connections).toBe(1);
});

test('unreadable sitemaps are reported, and the others are still read', async () => {
  const site = await openSite();
  const { reader } = setup();
  const index = sitemapIndex([
    site.url('/status/404'),
    serve(site, '/html.xml', '<!doctype html><html></html>'),
    serve(site, '/empty.xml', ''),
    serve(site, '/prose.xml', 'this is no sitemap'),
    serve(site, '/cut.xml', urlset(pages(3)).slice(0, -100)),
    serve(site, '/cut.xml.gz', gzipSync(urlset(pages(100))).subarray(0, -30)),
    'a sitemap',
    serve(site, '/good.xml', urlset(['https://example.com/good'])),
  ]);
  const { urls, problems } = await readAll(reader.readUrl(serve(site, '/index.xml', index)));
  expect(problems).toEqual([
    `${site.url('/index.xml')} names a sitemap that is not a URL: a sitemap: it has no scheme`,
    `${site.url('/status/404')} answered with status 404`,
    `${site.url('/html.xml')} is an HTML page, not a sitemap`,
    `${site.url('/empty.xml')} is empty`,
    `${site.url('/prose.xml')} is not a sitemap, feed or list of URLs`,
    `${site.url('/cut.xml')} is cut off; its end is missing`,
    `${site.url('/cut.xml.gz')} has broken gzip data: unexpected end of file; its end is missing`,
  ]);
  expect(urls.at(-1)).toBe('https://example.com/good');
  expect(urls.length).toBeGreaterThan(20);
});

test('relative locations are resolved against the URL that redirects have led to', async () => {
  const site = await openSite();
  const { reader } = setup();
  const { host } = new URL(site.url('/'));
  serve(
    site,
    '/maps/index.xml',
    sitemapIndex(['pages.xml', '/redirect-to?url=%2Fdeep%2Fer%2Ffeed.xml', `${host}/1.xml`]),
  );
  serve(site, '/maps/pages.xml', urlset(['/a', 'b', '?c', 'mailto:d', '../../e']));
  serve(site, '/deep/er/feed.xml', '<feed><entry xml:base="../x/"><link href="y"/></entry></feed>');
  const index = site.url('/redirect-to?url=%2Fmaps%2Findex.xml');
  const { urls, problems } = await readAll(reader.readUrl(index));
  expect(urls).toEqual([
    site.url('/a'),
    site.url('/maps/b'),
    site.url('/maps/pages.xml?c'),
    'mailto:d',
    site.url('/e'),
    site.url('/deep/x/y'),
  ]);
  expect(problems).toEqual([`${index} names a sitemap that is not a URL: ${host}/1.xml: it has no scheme`]);
});

test('an unreachable sitemap is reported with its error', async () => {
  const site = await openSite();
  const { reader } = setup();
  await site.stop();
  const { tree } = await readAll(reader.readUrl('http://127.0.0.1:1/sitemap.xml'));
  expect(tree).toMatchObject({
    kind: 'unread',
    problem: expect.stringMatching(/^could not be fetched: .*ECONNREFUSED/),
  });
});

test('indexes in a loop are read once each, even under other spellings of their URLs', async () => {
  const site = await openSite();
  const { reader } = setup();
  const [a, b, alias] = [site.url('/a.xml'), site.url('/b.xml'), site.url('/redirect-to?url=%2Fa.xml')];
  serve(site, '/a.xml', sitemapIndex([a, b, alias]));
  serve(site, '/b.xml', sitemapIndex([b, a, site.url('/%61.xml')]));
  expect((await readAll(reader.readUrl(a))).problems).toEqual([]);
  expect(paths(site)).toEqual(['/a.xml', '/b.xml', '/redirect-to?url=%2Fa.xml', '/a.xml']);
  expect((await readAll(reader.readUrl(b))).tree).toEqual({ kind: 'known', pages: 0 });
});

test('indexes of indexes are followed ten deep, and no deeper', async () => {
  const site = await openSite();
  const { reader } = setup();
  for (let i = 0; i <= 20; i++) serve(site, `/${i}.xml`, sitemapIndex([site.url(`/${i + 1}.xml`)]));
  const { problems } = await readAll(reader.readUrl(site.url('/0.xml')));
  expect(problems).toEqual([
    `${site.url('/10.xml')} is 10 indexes deep: its sitemaps from ${site.url('/11.xml')} on are not read`,
  ]);
  expect(paths(site)).toHaveLength(11);
});

test('an index is followed up to the limit of sitemaps', async () => {
  const site = await openSite();
  const { reader } = setup({ maxSitemaps: 4 });
  const names = [1, 2, 3, 4, 5].map((i) => serve(site, `/${i}.xml`, urlset(pages(1, `https://example.com/${i}-`))));
  const url = serve(site, '/index.xml', sitemapIndex(names));
  const { urls, problems } = await readAll(reader.readUrl(url));
  expect(urls).toHaveLength(3);
  expect(problems).toEqual([`${url} comes after 4 other sitemaps: its sitemaps from ${names[3]} on are not read`]);
});

test('an index is followed up to the limit on the total length of sitemap URLs', async () => {
  const site = await openSite();
  const { reader } = setup({ maxNamesLength: 10_000 });
  const long = 'x'.repeat(4_000);
  const names = [1, 2, 3, 4].map((i) =>
    serve(site, `/${i}-${long}.xml`, urlset(pages(1, `https://example.com/${i}-`))),
  );
  const url = serve(site, '/index.xml', sitemapIndex(names));
  const { urls, problems } = await readAll(reader.readUrl(url));
  expect(urls).toHaveLength(3);
  expect(problems).toEqual([`${url} comes after 4 other sitemaps: its sitemaps from ${names[3]} on are not read`]);
});

test.each([
  ['names that are no URLs', () => 'nonsense:', 11, 'names further sitemaps that are not URLs: 4990'],
  ['too many sitemaps', (n: number) => `http://127.0.0.1:1/${n}.xml`, 1, 'comes after 1 other sitemaps'],
])('an index of thousands of %s reports only a few problems', async (_, name, count, last) => {
  const site = await openSite();
  const { reader } = setup({ maxSitemaps: 1 });
  const names = Array.from({ length: 5_000 }, (_, n) => name(n));
  const { problems } = await readAll(reader.readUrl(serve(site, '/index.xml', sitemapIndex(names))));
  expect(problems).toHaveLength(count);
  expect(problems.at(-1)).toContain(last);
});

test('a sitemap over the limit of bytes gives the pages before it', async () => {
  const site = await openSite();
  const { reader } = setup({ maxSitemapBytes: 50_000 });
  const url = serve(site, '/big.xml.gz', gzipSync(urlset(pages(10_000))));
  const { urls, problems } = await readAll(reader.readUrl(url));
  expect(urls.length).toBeLessThan(1_000);
  expect(problems).toEqual([`${url} is longer than 50000 bytes, unpacked; its end is missing`]);
});

test('a JSON Feed over the limit of bytes gives the items read before it, and is reported as too long', async () => {
  const site = await openSite();
  const { reader } = setup({ maxSitemapBytes: 50_000 });
  const items = pages(5_000, 'https://example.com/p').map((url) => ({ url }));
  const feed = JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items });
  const url = serve(site, '/feed.json', feed, 'application/feed+json');
  const { urls, problems } = await readAll(reader.readUrl(url));
  expect(urls.length).toBeGreaterThan(1_000);
  expect(problems).toEqual([`${url} is longer than 50000 bytes, unpacked; its end is missing`]);
  const late = serve(site, '/late.json', JSON.stringify({ about: 'x'.repeat(60_000), items }), 'application/json');
  const { tree } = await readAll(reader.readUrl(late));
  expect(tree).toMatchObject({ kind: 'unknown', problem: 'is longer than 50000 bytes, unpacked' });
});

test('an HTML page is not read to its end', async () => {
  const site = await openSite();
  const { reader } = setup();
  site.on('/feed', (_, response) => {
    response.writeHead(200).write('<!doctype html><html>');
  });
  const { tree } = await readAll(reader.readUrl(site.url('/feed')));
  expect(tree.kind).toBe('html');
  await site.disconnection();
});

test('URLs in any script are returned as written', async () => {
  const site = await openSite();
  const { reader } = setup();
  const written = ['https://example.com/é', 'https://müller.example/', 'https://example.com/日本', 'no url at all'];
  const { urls } = await readAll(reader.readUrl(serve(site, '/s.xml', urlset(written), 'text/xml; charset=utf-8')));
  expect(urls).toEqual(written);
});

test('a sitemap that fails midway is read again, and the entries found before are marked', async () => {
  const site = await openSite();
  const { reader, clock } = setup();
  const whole = urlset(pages(100));
  site.on('/s.xml', (request, response) => {
    if (site.count('/s.xml') > 1) response.end(whole);
    else
      response
        .writeHead(200, { 'content-length': whole.length })
        .write(whole.slice(0, 5_000), () => request.socket.end());
  });
  const { urls, again, problems, tree } = await readAll(reader.readUrl(site.url('/s.xml')));
  expect(urls).toEqual(pages(100));
  expect(again).toEqual(pages(again.length));
  expect(again.length).toBeGreaterThan(10);
  expect({ problems, tree }).toEqual({ problems: [], tree: { kind: 'urlset', pages: 100 } });
  expect(clock.sleeps).toEqual([1_000]);
});

test('a local file is read as a sitemap or a list depending on its content', async () => {
  const { reader } = setup();
  const path = join(folder(), 'sitemap');
  for (const content of [urlset(pages(3)), gzipSync(urlset(pages(3))), `# mine\n${pages(3).join('\r\n')}`]) {
    writeFileSync(path, content);
    expect((await readAll(reader.readFile(path))).urls).toEqual(pages(3));
  }
  writeFileSync(path, 'example.com\n');
  expect((await readAll(reader.readFile(path))).urls).toEqual(['example.com']);
  writeFileSync(path, '<html>');
  expect((await readAll(reader.readFile(path))).tree.problem).toBe('is an HTML page, not a sitemap');
});

test('entities that a document declares itself are not expanded, and are reported', async () => {
  const site = await openSite();
  const { reader } = setup();
  const doctype = '<!DOCTYPE urlset [<!ENTITY base "https://example.com"><!ENTITY xxe SYSTEM "file:///etc/passwd">]>';
  const locs = ['&base;/a', 'https://example.com/b&xxe;', 'https://example.com/c'].map(
    (loc) => `<url><loc>${loc}</loc></url>`,
  );
  const url = serve(site, '/s.xml', `${doctype}<urlset>${locs.join('')}</urlset>`);
  const { urls, problems } = await readAll(reader.readUrl(url));
  expect(urls).toEqual(['https://example.com/b', 'https://example.com/c']);
  expect(problems).toEqual([`${url} has 1 URLs with entities that it declares itself, which are not expanded`]);
});

test('an endless sitemap is read up to the limit of entries', async () => {
  async function* text(): AsyncGenerator<string> {
    yield '<urlset>';
    for (;;) yield '<url><loc>https://example.com/</loc></url>'.repeat(10);
  }
  const document = new SitemapDocument({
    source: 's',
    text: text(),
    anyText: false,
    maxEntries: 95,
    isKnown: () => false,
  });
  const found: SeedEvent[] = [];
  for await (const each of document.read()) found.push(each);
  expect(found.flatMap((each) => (each.kind === 'entries' ? each.entries : []))).toHaveLength(100);
  expect(found.at(-1)).toEqual({
    kind: 'problem',
    source: 's',
    problem: 'names more than 95 URLs; the rest is not read',
  });
});
