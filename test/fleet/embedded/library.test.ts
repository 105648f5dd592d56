import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Crawl, type CrawlOptions, crawl, type PageRecord } from '../../../services/library/crawl.ts';
import { defineCrawler, z } from '../../../shared/crawler/trawl.ts';
import { TestSite } from '../../support/site.ts';

const LOCAL = { rate: 'none', hostConcurrency: 'none', privateHosts: ['127.0.0.0/8'] } as const satisfies CrawlOptions;

async function openSite(pages = 20): Promise<TestSite> {
  const site = new TestSite({ pages });
  await site.start();
  onTestFinished(() => site.stop());
  return site;
}

async function recordsOf(crawled: Crawl): Promise<PageRecord[]> {
  return await Array.fromAsync(crawled);
}

test('crawl() yields the record of each page once, then has a summary, and writes no files', async () => {
  const site = await openSite();
  const folder = await mkdtemp(join(tmpdir(), 'trawl-library-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const outputDir = join(folder, 'output');
  const titles = defineCrawler({ name: 'titles', step: (page) => ({ data: { title: page.title } }) });
  const crawled = crawl(site.url('/'), { crawler: titles, outputDir, ...LOCAL });
  expect(crawled.summary).toBeUndefined();
  const records = await recordsOf(crawled);
  const pages = Array.from({ length: 20 }, (_, n) => n + 1);
  expect(records.map(({ url }) => url).toSorted()).toEqual(pages.map((n) => site.url(`/page/${n}`)).toSorted());
  for (const record of records)
    expect(record).toMatchObject({ outcome: 'done', data: { title: expect.stringMatching(/^Page \d+$/) } });
  expect(crawled.summary).toMatchObject({ state: 'finished', discovered: 20, done: 20, records: 20 });
  await expect(readdir(outputDir)).rejects.toThrow('ENOENT');
  await expect(recordsOf(crawled)).rejects.toThrow('a crawl can be iterated over once');
});

test('crawl() runs a crawler with steps and arguments, also in two crawls at once', async () => {
  const site = await openSite();
  const pages = defineCrawler({
    name: 'pages',
    args: z.object({ most: z.number() }),
    seeds: () => [site.url('/page/1')],
    steps: {
      page: {
        to: ['other'],
        run({ args, emit, follow }) {
          follow(
            'other',
            Array.from({ length: args.most }, (_, n) => site.url(`/page/${n + 2}`)),
          );
          emit({ step: 'page' });
        },
      },
      other: { run: ({ emit }) => emit({ step: 'other' }) },
    },
  });
  const options = { crawler: pages, ...LOCAL };
  const [three, five] = await Promise.all([
    recordsOf(crawl([], { ...options, args: { most: 3 } })),
    recordsOf(crawl([], { ...options, args: { most: 9 }, limit: 5 })),
  ]);
  const items = three.map((record) => record.outcome === 'done' && record.data);
  expect(items).toEqual([{ step: 'page' }, ...Array.from({ length: 3 }, () => ({ step: 'other' }))]);
  expect(five).toHaveLength(5);
});

test('a crawl runs no faster than its records are taken, and breaking out of the loop stops it', async () => {
  const site = await openSite(300);
  let taken = 0;
  for await (const { outcome } of crawl(site.url('/'), { workerConcurrency: 4, ...LOCAL })) {
    expect(outcome).toBe('done');
    if (++taken === 10) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const asked = site.requests.filter(({ path }) => path.startsWith('/page/')).length;
  expect(asked).toBeLessThan(60);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(site.requests.filter(({ path }) => path.startsWith('/page/'))).toHaveLength(asked);
});

test('an abort signal stops a crawl, and the loop throws its reason', async () => {
  const site = await openSite();
  const asked = Promise.withResolvers<void>();
  site.on('/slow', () => asked.resolve());
  const stop = new AbortController();
  const crawling = recordsOf(crawl(site.url('/slow'), { signal: stop.signal, ...LOCAL }));
  await asked.promise;
  stop.abort(new Error('no longer wanted'));
  await expect(crawling).rejects.toThrow('no longer wanted');
  await expect(recordsOf(crawl(site.url('/slow'), { signal: stop.signal }))).rejects.toThrow('no longer wanted');
});

test('a failed login ends a crawl() with the reason, as nobody could resume it', async () => {
  const site = await openSite();
  const shut = defineCrawler({
    name: 'shut',
    session: { login: () => Promise.reject(new Error('no such user')) },
    step: () => ({}),
  });
  const crawling = recordsOf(crawl(site.url('/page/1'), { crawler: shut, ...LOCAL }));
  await expect(crawling).rejects.toThrow(/^the crawl can't continue: its login failed 3 times: .*no such user/);
});

// biome-ignore format: a table
test.each<[what: string, seeds: unknown, options: object, message: RegExp]>([
  ['an unknown option',  'https://shop.example/', { maxDeph: 2 },                  /^crawl has no option maxDeph: did you mean maxDepth\?$/],
  ['an option of a fleet',          'https://shop.example/', { redisUrl: 'redis://r' },       /^crawl has no option redisUrl$/],
  ['an invalid value',                  'https://shop.example/', { rate: 'often', limit: 0 },     /^expected option rate to be a rate like .*, got "often"\nexpected option limit to be a whole number, from 1, got 0$/],
  ['a value with a secret',                'https://shop.example/', { proxies: 'p:secret@' },        /^expected option proxies to be .*, got something else$/],
  ['an unknown argument',             'https://shop.example/', { args: { a: 1 } },              /argument/],
  ['an unknown crawler',      'https://shop.example/', { crawler: 'shop' },             /^expected CRAWLER to be the name of a crawler/],
  ['a function as a crawler', 'https://shop.example/', { crawler: () => ({}) },          /^expected option crawler to be a crawler, or the name or file of one: defineCrawler\(/],
  ['a definition as a crawler', 'https://shop.example/', { crawler: { name: 'a', step: () => ({}) } }, /^expected option crawler to be a crawler, /],
  ['a URL as a seed', new URL('https://shop.example/'), {},                             /^expected the seeds of crawl\(\) to be texts, a URL or a file each, got a URL: take its href$/],
  ['no seed',                  [undefined],            {},                              /got undefined$/],
  ['an empty list of seeds',                [],                      {},                              /^nothing to crawl: /],
  ['standard input',          '-',                     {},                              /^crawl\(\) doesn't read standard input/],
  ['a seed without a scheme', 'shop.example/x',        {},                              /did you mean https:\/\/shop\.example\/x$/],
])('crawl() refuses %s, with what to change', async (_what, seeds, options, message) => {
  await expect(recordsOf(crawl(seeds as string, options))).rejects.toThrow(message);
});
