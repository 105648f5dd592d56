import { expect, test } from 'vitest';
import { openSite, serve } from './documents.ts';
import { RUN_OPTIONS, setup } from './setup.ts';

const urlset = (...locs: string[]): string =>
  `<urlset>${locs.map((loc) => `<url><loc>${loc}</loc></url>`).join('')}</urlset>`;

test('pages that sitemaps on the web list are taken only if the run’s patterns allow them; sitemaps and lists always', async () => {
  const site = await openSite();
  const { produce, waiting, problems } = setup();
  const products = urlset('/product/1', '/product/2?sort=up', '/about', 'http://:no');
  const child = serve(site, '/products.xml', products);
  const text = serve(site, '/more.txt', `${site.url('/product/3')}\n${site.url('/help')}\n`);
  const index = serve(site, '/sitemap.xml', `<sitemapindex><sitemap><loc>${child}</loc></sitemap></sitemapindex>`);
  const runOptions = { ...RUN_OPTIONS, include: ['/product/*'], exclude: ['*sort=*'] };
  const progress = await produce({ runOptions }).produce([
    { kind: 'maybe_sitemap', url: index },
    { kind: 'maybe_sitemap', url: text },
    { kind: 'page', url: site.url('/contact') },
  ]);
  expect(progress).toMatchObject({ state: 'done', offered: 4, malformed: 1, unwanted: 3, sitemaps: 3 });
  const taken = [...['/contact', '/product/1', '/product/3'].map((path) => site.url(path)), 'http://:no'];
  expect([(await waiting()).toSorted(), problems]).toEqual([taken, []]);
});

test('a run that another producer joins keeps the patterns that it was opened with', async () => {
  const site = await openSite();
  const { produce, waiting } = setup();
  const sitemap = serve(site, '/sitemap.xml', urlset('/a/1', '/b/1'));
  await produce({ runOptions: { ...RUN_OPTIONS, include: ['/a/*'] } }).produce([]);
  const second = produce({ producer: 'q', runOptions: { ...RUN_OPTIONS, include: ['/b/*'] } });
  expect(await second.produce([{ kind: 'maybe_sitemap', url: sitemap }])).toMatchObject({ unwanted: 1 });
  expect(await waiting()).toEqual([site.url('/a/1')]);
});
