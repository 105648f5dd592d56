import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { readCrawlerInput } from '../../../../services/process/crawler-input.ts';
import { argLines } from '../../../../shared/crawler/args.ts';
import { defineCrawler } from '../../../../shared/crawler/crawler.ts';
import { UsageError } from '../../../../shared/runtime/errors.ts';

const ASKING = { settings: { stepTimeout: 30_000 } };

/** Reads the input of a crawler with these seeds. */
function read(seeds: () => Promise<string[]>, onWait = (_crawler: string): unknown => undefined) {
  const crawler = defineCrawler({ name: 'shop', seeds, steps: { list: { run() {} } } });
  return readCrawlerInput(crawler, [], {}, { ...ASKING, onWait });
}

test('seeds that wait for ever end the command with an error once nothing else is left to do', async () => {
  const none = process.listenerCount('beforeExit');
  const reading = read(() => new Promise(() => {}));
  await expect.poll(() => process.listenerCount('beforeExit')).toBeGreaterThan(none);
  const listeners = process.listeners('beforeExit');
  // As Node.js does it when its event loop is empty.
  (listeners.at(-1) as () => void)();
  await expect(reading).rejects.toThrow('the seeds of crawler shop: they wait for something that never comes');
  expect(process.listeners('beforeExit')).toEqual(listeners.slice(0, -1));
});

test('`onWait` is called every 30 s while seeds are awaited', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const told: string[] = [];
  const reading = read(
    () => promise,
    (crawler) => told.push(crawler),
  );
  await Promise.resolve();
  vi.advanceTimersByTime(61_000);
  resolve([]);
  await reading;
  vi.advanceTimersByTime(61_000);
  expect(told).toEqual(['shop', 'shop']);
});

// biome-ignore format: a table
test.each<[unknown, RegExp]>([
  [{ list: [] },                    /^expected the seeds of crawler shop to be a list of URLs, got an object$/],
  [(function* () { yield 'x'; })(), /^expected the seeds of crawler shop to be a list of URLs, got a generator$/],
  [['https://a.example/', { url: 'https://a.example/', method: 'POST' }], /got an object at 1: only a step can follow a request other than a plain GET$/],
  [['/all/'],                       /^the seeds of crawler shop: \/all\/ doesn't exist$/],
])('the error for invalid seeds names the crawler: %j', async (seeds, said) => {
  await expect(read(async () => seeds as string[])).rejects.toThrow(said);
});

test('the error for seeds that throw names file and line', async () => {
  const reading = read(async () => (null as unknown as { urls: string[] }).urls);
  await expect(reading).rejects.toThrow(/^test\/.*crawler-input\.test\.ts:\d+: the seeds of crawler shop: Cannot read/);
});

// biome-ignore format: a table
test.each<[string, z.ZodType, RegExp]>([
  ['throws',   z.string().transform((text) => new URL(text).host), /^test\/.*crawler-input\.test\.ts:\d+: the arguments of crawler shop: Invalid URL$/],
  ['is async', z.string().refine(async () => true),                /^the arguments of crawler shop: their schema has something async, but it is checked synchronously$/],
])('a schema of arguments that %s ends the command with a usage error', async (_, shop, said) => {
  const crawler = defineCrawler({ name: 'shop', args: z.object({ shop }), steps: { list: { run() {} } } });
  const reading = readCrawlerInput(crawler, [], { arg: ['shop=a'] }, ASKING);
  await expect(reading).rejects.toThrow(said);
  await expect(reading).rejects.toBeInstanceOf(UsageError);
});

test('an argument whose default throws is shown without a default', () => {
  const shop = z.string().default(() => {
    throw new Error('not now');
  });
  const crawler = defineCrawler({ name: 'shop', args: z.object({ shop }), steps: { list: { run() {} } } });
  expect(argLines(crawler)).toEqual(['shop']);
});

// biome-ignore format: a table
test.each<[pattern: string, seed: string, kind: string]>([
  ['/rss.xml',                   'https://shop.example/rss.xml',       'page'],
  ['/feeds/*',                   'https://shop.example/feeds/a.xml',   'page'],
  ['*/index.php?feed=*',         'https://shop.example/index.php?feed=rss2', 'page'],
  ['https://shop.example/*.xml', 'https://shop.example/sitemap.xml',   'page'],
  ['/robots.txt',                'https://shop.example/robots.txt',    'page'],
  ['/product/*',                 'https://shop.example/robots.txt',    'robots'],
  ['/rss.xml',                   'https://shop.example/atom.xml',      'maybe_sitemap'],
  ['*',                          'https://shop.example/sitemap.xml',   'maybe_sitemap'],
  ['/product/*',                 'https://shop.example/sitemap.xml',   'maybe_sitemap'],
  ['https://feeds.example/*',    'https://feeds.example/sitemap.xml',  'maybe_sitemap'],
])('with the pattern %s, the seed %s is a %s', async (pattern, seed, kind) => {
  const steps = { list: { run() {} }, other: { run() {} } };
  const crawler = defineCrawler({ name: 'shop', patterns: { other: pattern }, steps });
  expect((await readCrawlerInput(crawler, [seed], {}, ASKING)).seeds).toEqual([{ kind, url: seed }]);
});

test('the seeds of a crawler can be a list', async () => {
  const crawler = defineCrawler({ name: 'shop', seeds: ['https://shop.example/all/'], steps: { list: { run() {} } } });
  const { seeds } = await readCrawlerInput(crawler, [], {}, ASKING);
  expect(seeds).toEqual([{ kind: 'page', url: 'https://shop.example/all/' }]);
});

test('the seeds of a crawler can be an async function, and a site among them is a page', async () => {
  const { seeds } = await read(async () => ['https://shop.example/', 'https://shop.example/all/']);
  expect(seeds).toEqual([
    { kind: 'page', url: 'https://shop.example/' },
    { kind: 'page', url: 'https://shop.example/all/' },
  ]);
});
