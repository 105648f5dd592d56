import { expect, test } from 'vitest';
import type { Seed } from '../../../../services/producer/seeds.ts';
import { maybe, openSite, serve, sitemapIndex, urlset } from './documents.ts';
import { RUN_OPTIONS, setup } from './setup.ts';

// biome-ignore format: a table
test.each<[string, string, string]>([
  ['a sitemap',              urlset([]),                                                              'is a sitemap without pages'],
  ['a sitemap of images',    '<urlset><url><image:image><image:loc>/i.png</image:loc></image:image></url></urlset>', 'is a sitemap without pages'],
  ['empty locations',        urlset(['', ' ']),                                                       'is a sitemap without pages'],
  ['an index',               '<sitemapindex/>',                                                       'is an index without sitemaps'],
  ['locations in an index',  '<sitemapindex><loc>https://example.com/s.xml</loc></sitemapindex>',     'is an index without sitemaps'],
  ['RSS',                    '<rss><channel><item><enclosure url="/1.mp3"/></item></channel></rss>',  'is a feed without links to pages'],
  ['Atom',                   '<feed><entry><id>https://example.com/1</id></entry></feed>',            'is a feed without links to pages'],
  ['a JSON Feed',            '{"version": "https://jsonfeed.org/version/1.1", "items": []}',          'is a feed without links to pages'],
])('%s without pages is named, and is no page itself', async (_, body, said) => {
  const site = await openSite();
  const { produce, hints, problems, waiting } = setup();
  const url = serve(site, '/s.xml', body);
  expect(await produce().produce([maybe(url)])).toMatchObject({ state: 'done', offered: 0, sitemaps: 1 });
  expect({ hints, problems, waiting: await waiting() }).toEqual({ hints: [`${url} ${said}`], problems: [], waiting: [] });
});

// biome-ignore format: a table
test.each<[string, string, string]>([
  ['cut off',           '<urlset>',                                                                          'is cut off; its end is missing'],
  ['full of entities',  '<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>',          'has 1 URLs with entities that it declares itself, which are not expanded'],
])('a sitemap without pages since it is %s is reported once', async (_, body, said) => {
  const site = await openSite();
  const { produce, hints, problems } = setup();
  const url = serve(site, '/s.xml', body);
  await produce().produce([maybe(url)]);
  expect({ hints, problems }).toEqual({ hints: [], problems: [`${url} ${said}`] });
});

test('of many sitemaps without pages the first ten are named, and the others counted', async () => {
  const site = await openSite();
  const { produce, hints, waiting } = setup();
  const bare = Array.from({ length: 13 }, (_, index) => serve(site, `/${index}.xml`, urlset([])));
  const index = serve(site, '/s.xml', sitemapIndex([...bare, serve(site, '/full.xml', urlset(['https://a.test/1']))]));
  await produce().produce([maybe(index)]);
  expect(hints).toEqual([
    ...bare.slice(0, 10).map((url) => `${url} is a sitemap without pages`),
    `${index}: further sitemaps without pages: 3`,
  ]);
  expect(await waiting()).toEqual(['https://a.test/1']);
});

test('a site whose sitemaps name no pages is not said to have none', async () => {
  const site = await openSite();
  const { produce, hints, waiting } = setup();
  const sitemap = serve(site, '/sitemap.xml', urlset([]));
  await produce().produce([{ kind: 'site', url: site.url('/') }]);
  expect(hints).toEqual([
    `${sitemap} is a sitemap without pages`,
    `${site.url('/')}: its sitemaps name no pages; --follow follows its links`,
  ]);
  expect(await waiting()).toEqual([site.url('/')]);
});

const robotsOf = (url: string): Seed => ({ kind: 'robots', url });

test('a robots.txt as a seed gives the pages of its sitemaps, or else of /sitemap.xml, without the page of the site', async () => {
  const { produce, problems, hints, waiting } = setup();
  const [named, usual] = [await openSite(), await openSite()];
  const robots = serve(named, '/robots.txt', 'Sitemap: /mine.xml', 'text/plain');
  serve(named, '/mine.xml', urlset(['https://example.com/named']));
  serve(usual, '/sitemap.xml', urlset(['https://example.com/usual']));
  await produce({ runOptions: { ...RUN_OPTIONS, follow: true } }).produce([
    robotsOf(robots),
    robotsOf(usual.url('/robots.txt')),
  ]);
  expect((await waiting()).toSorted()).toEqual(['https://example.com/named', 'https://example.com/usual']);
  expect({ problems, hints }).toEqual({ problems: [], hints: [] });
  expect(named.count('/sitemap.xml')).toBe(0);
});

test('a robots.txt that leads to no sitemap is reported, and is no page', async () => {
  const site = await openSite();
  const { produce, problems, waiting } = setup();
  await produce().produce([robotsOf(site.url('/robots.txt')), robotsOf('http://127.0.0.1:1/robots.txt')]);
  expect(problems.toSorted()).toEqual([
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:1\/robots\.txt could not be fetched: .*; the sitemaps that it names/),
    `${site.url('/robots.txt')} leads to no sitemap, and there is none at /sitemap.xml`,
  ]);
  expect(await waiting()).toEqual([]);
});
