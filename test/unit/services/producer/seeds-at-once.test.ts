import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Seed, seedsByHost } from '../../../../services/producer/seeds.ts';
import { StorageError } from '../../../../shared/runtime/errors.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { folder, openSite, pages, serve, sitemapIndex, urlset } from './documents.ts';
import { openFetcher, setup } from './setup.ts';

const maybe = (url: string): Seed => ({ kind: 'maybe_sitemap', url });

test('a site that never answers does not hold up other sites', async () => {
  const [silent, good] = [await openSite(), await openSite()];
  silent.on('/s.xml', () => {});
  const { produce, parts } = setup();
  const stop = new AbortController();
  const producer = produce();
  const produced = producer.produce(
    [maybe(silent.url('/s.xml')), maybe(serve(good, '/s.xml', urlset(pages(700))))],
    stop.signal,
  );
  await expect.poll(async () => (await parts.runs.progress('r'))?.discovered).toBe(700);
  expect(producer.progress()).toMatchObject({ state: 'reading', source: silent.url('/s.xml'), sitemaps: 1 });
  stop.abort();
  expect(await produced).toMatchObject({ state: 'stopped', offered: 700, source: undefined });
  expect((await parts.runs.progress('r'))?.sealed).toBe(false);
});

test('seeds of one host are read in order, one document at a time', async () => {
  const site = await openSite();
  const urls = ['a', 'b', 'c'].map((name) =>
    serve(site, `/${name}.xml`, urlset(pages(2, `https://example.com/${name}`))),
  );
  const { produce, parts } = setup();
  let [open, most] = [0, 0];
  const order: string[] = [];
  const fetcher = withMethods(openFetcher(), {
    open: async (request) => {
      order.push(request.url);
      most = Math.max(most, ++open);
      try {
        return await parts.fetcher.open(request);
      } finally {
        open--;
      }
    },
  });
  await produce({}, { fetcher }).produce(urls.map(maybe));
  expect([order, most]).toEqual([urls, 1]);
});

test('at most 64 hosts are asked at once', async () => {
  const asked: string[] = [];
  const fetcher = withMethods(openFetcher(), {
    open: async ({ url, signal }) => {
      asked.push(url);
      return await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    },
  });
  const { produce } = setup();
  const stop = new AbortController();
  const seeds = Array.from({ length: 70 }, (_, n) => maybe(`https://host-${n}.example/sitemap.xml`));
  const produced = produce({}, { fetcher }).produce(seeds, stop.signal);
  await expect.poll(() => asked.length).toBe(64);
  stop.abort();
  expect(await produced).toMatchObject({ state: 'stopped' });
  expect(new Set(asked).size).toBe(64);
});

test('the first error stops the reading of all seeds', async () => {
  const silent = await openSite();
  silent.on('/s.xml', () => {});
  const { produce } = setup();
  const producer = produce();
  const gone: Seed = { kind: 'list', path: join(folder(), 'gone') };
  await expect(producer.produce([maybe(silent.url('/s.xml')), gone])).rejects.toThrow(StorageError);
  expect(producer.progress()).toMatchObject({ state: 'stopped', source: undefined });
});

test('a sitemap that two sites name is read once', async () => {
  const [one, two, shared] = [await openSite(), await openSite(), await openSite()];
  const named = serve(shared, '/shared.xml', urlset(pages(5)));
  const seeds = [one, two].map((site) => maybe(serve(site, '/index.xml', sitemapIndex([named]))));
  const { produce, waiting } = setup();
  expect(await produce().produce(seeds)).toMatchObject({ state: 'done', offered: 5, known: 0, sitemaps: 3 });
  expect(shared.count('/shared.xml')).toBe(1);
  expect((await waiting()).sort()).toEqual(pages(5).sort());
});

test('large lists read at once lose no URL and count each URL once', async () => {
  const sites = await Promise.all(Array.from({ length: 8 }, openSite));
  const lists = sites.map((site, n) => maybe(serve(site, '/s.xml', urlset(pages(1_200, `https://example.com/${n}-`)))));
  const path = join(folder(), 'urls');
  writeFileSync(path, pages(3_000, 'https://example.com/0-').join('\n'));
  const { produce, parts } = setup();
  const progress = await produce({ sharesLoop: true }).produce([...lists, { kind: 'list', path }]);
  expect(progress).toMatchObject({ state: 'done', offered: 12_600, accepted: 11_400, known: 1_200 });
  expect(await parts.runs.progress('r')).toMatchObject({ sealed: true, discovered: 11_400, duplicate: 1_200 });
});

test('seeds are grouped by host, and local ones form one group', () => {
  const file: Seed = { kind: 'file', path: 'urls' };
  const seeds: Seed[] = [
    { kind: 'site', url: 'https://a.example/' },
    file,
    { kind: 'page', url: 'https://b.example/page' },
    maybe('https://a.example/feed'),
    { kind: 'input' },
    maybe('https://a.example:8443/feed'),
  ];
  expect(seedsByHost(seeds)).toEqual([
    [{ kind: 'site', url: 'https://a.example/' }, maybe('https://a.example/feed')],
    [file, { kind: 'input' }],
    [{ kind: 'page', url: 'https://b.example/page' }],
    [maybe('https://a.example:8443/feed')],
  ]);
});
