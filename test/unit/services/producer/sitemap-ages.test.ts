import { expect, test } from 'vitest';
import type { Seed } from '../../../../services/producer/seeds.ts';
import { EVERYTHING } from '../../../support/stores/embedded.ts';
import { openSite, serve } from './documents.ts';
import { setup } from './setup.ts';

const maybe = (url: string): Seed => ({ kind: 'maybe_sitemap', url });
const since = Date.parse('2026-11-01');

function listing(element: 'url' | 'sitemap', entries: readonly (readonly [loc: string, lastmod?: string])[]): string {
  const lines = entries.map(
    ([loc, lastmod]) =>
      `<${element}><loc>${loc}</loc>${lastmod === undefined ? '' : `<lastmod>${lastmod}</lastmod>`}</${element}>`,
  );
  return `<${element === 'url' ? 'urlset' : 'sitemapindex'}>${lines.join('')}</${element === 'url' ? 'urlset' : 'sitemapindex'}>`;
}

test('pages and sitemaps older than `since` are counted but not offered or read; undated ones are not old', async () => {
  const site = await openSite();
  const { produce, waiting } = setup();
  const recent = listing('url', [
    ['https://example.com/new', '2026-11-02'],
    ['https://example.com/old', '2026-10-31T23:59:59Z'],
    ['https://example.com/undated'],
    ['https://example.com/odd', 'last week'],
  ]);
  const index = listing('sitemap', [
    [serve(site, '/recent.xml', recent), '2026-11-02'],
    [serve(site, '/old.xml', listing('url', [['https://example.com/unread', '2026-11-03']])), '2026-10'],
    // Named again elsewhere, as new.
    [serve(site, '/twice.xml', listing('url', [['https://example.com/twice']])), '2020'],
    [site.url('/twice.xml'), '2026-11-02'],
    [serve(site, '/undated.xml', listing('url', [['https://example.com/also', '2026-11-03']]))],
  ]);
  const progress = await produce({ since }).produce([maybe(serve(site, '/index.xml', index))]);
  expect(progress).toMatchObject({ state: 'done', offered: 5, older: { pages: 1, sitemaps: 2 }, sitemaps: 4 });
  const expected = ['also', 'new', 'odd', 'twice', 'undated'].map((name) => `https://example.com/${name}`);
  expect((await waiting()).toSorted()).toEqual(expected);
  expect(site.requests.map(({ path }) => path)).not.toContain('/old.xml');
});

test('a site whose sitemaps have nothing new is not reported as a site without sitemaps', async () => {
  const site = await openSite();
  const { produce, hints } = setup();
  const old = serve(site, '/old.xml', listing('url', [['https://example.com/', '2026']]));
  serve(site, '/sitemap.xml', listing('sitemap', [[old, '2025-10']]));
  const progress = await produce({ since }).produce([{ kind: 'site', url: site.url('/') }]);
  expect(progress).toMatchObject({ offered: 0, older: { pages: 0, sitemaps: 1 }, problems: 0 });
  expect(hints).toEqual([]);
});

test('articles of a news sitemap go to the priority queue, unless a rule says otherwise', async () => {
  const site = await openSite();
  const { produce, parts } = setup();
  const article = (loc: string) => `<url><loc>${loc}</loc><n:news><n:title>x</n:title></n:news></url>`;
  const urls = ['https://a.test/1', 'https://b.test/1'].map(article);
  const body = `<urlset xmlns:n="x">${urls.join('')}<url><loc>https://a.test/2</loc></url></urlset>`;
  await produce({}, { rules: [{ host: 'b.test', queue: 'normal' }] }).produce([maybe(serve(site, '/n.xml', body))]);
  const { tasks } = await parts.frontier.release(EVERYTHING);
  expect(Object.fromEntries(tasks.map(({ task }) => [task.url, task.queue]))).toEqual({
    'https://a.test/1': 'priority',
    'https://a.test/2': 'normal',
    'https://b.test/1': 'normal',
  });
});
