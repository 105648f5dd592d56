import { expect, onTestFinished, test } from 'vitest';
import pageCrawler from '../../../../../crawlers/page.ts';
import type { Crawler } from '../../../../../shared/crawler/crawler.ts';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import type { RunOptions } from '../../../../../shared/ports/runs.ts';
import { TestSite } from '../../../../support/site.ts';
import { offerOf } from '../../../../support/stores/embedded.ts';
import { setup } from '../setup.ts';

interface Options {
  readonly run?: Partial<RunOptions>;
  readonly crawler?: Crawler;
  readonly depth?: number;
}

/** A task whose page the test puts into the response cache, at a final URL of its choice, with a second site. */
async function cachedTask({ run = {}, crawler = pageCrawler, depth = 0 }: Options = {}) {
  const world = await setup({ run, crawler });
  const other = new TestSite();
  await other.start();
  onTestFinished(() => other.stop());
  const { site, cache, frontier } = world;
  const keep = (finalUrl: string, contentType = 'text/html'): Promise<void> =>
    cache.set(site.url('/page/1'), {
      ...{ finalUrl, status: 200, headers: { 'content-type': contentType }, durationMs: 1 },
      body: new TextEncoder().encode('<title>kept</title>'),
    });
  const work = async (): Promise<void> => {
    await frontier.offer('r', [{ ...offerOf(site.url('/page/1')), depth } as ReturnType<typeof offerOf>]);
    const pipeline = world.pipeline({ robots: world.robots() });
    for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  };
  return { ...world, other, keep, work };
}

test('a cached page is recorded without being requested', async () => {
  const { site, keep, work, runs, sink } = await cachedTask();
  await keep(site.url('/page/1'));
  await work();
  expect(await runs.progress('r')).toMatchObject({ done: 1 });
  expect(sink.records).toMatchObject([{ fromCache: true, title: 'kept' }]);
  expect(site.count('/page/1')).toBe(0);
});

test('a page cached behind a redirect obeys the robots.txt of the host it leads to', async () => {
  const { other, keep, work, runs, sink } = await cachedTask();
  other.robots = 'User-agent: *\nDisallow: /private';
  await keep(other.url('/private/1'));
  await work();
  expect(await runs.progress('r')).toMatchObject({ done: 0, reasons: { skipped: { robots: 1 } } });
  expect(sink.records).toMatchObject([{ outcome: 'skipped', reason: 'robots' }]);
});

test('a page cached behind a redirect waits while the robots.txt of the host it leads to is unavailable', async () => {
  const { other, keep, work, runs, clock, deliveries, pipeline, robots } = await cachedTask();
  other.on('/robots.txt', (_, response) => void response.writeHead(503).end());
  await keep(other.url('/page/7'));
  await work();
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, done: 0 });
  other.robots = '';
  other.on('/robots.txt', (_, response) => void response.end());
  clock.step(15_000);
  for (const delivery of await deliveries()) await pipeline({ robots: robots() }).handle(delivery);
  expect(await runs.progress('r')).toMatchObject({ waiting: 0, done: 1 });
});

test('a followed link cached behind a redirect out of the run’s scope is skipped', async () => {
  const { other, site, keep, work, runs } = await cachedTask({ run: { follow: true, maxDepth: 3 }, depth: 1 });
  await keep(other.url('/page/7'));
  await work();
  expect(await runs.progress('r')).toMatchObject({ done: 0, reasons: { skipped: { scope: 1 } } });
  expect([site, other].map(({ requests }) => requests.map(({ path }) => path))).toEqual([['/robots.txt'], []]);
});

test('a seed cached behind a redirect to another host is recorded without a request there', async () => {
  const { other, keep, work, runs, sink } = await cachedTask();
  await keep(other.url('/page/7'));
  await work();
  expect(await runs.progress('r')).toMatchObject({ done: 1 });
  expect(sink.records).toMatchObject([{ fromCache: true, finalUrl: other.url('/page/7') }]);
  expect(sink.records[0]).not.toHaveProperty('redirects');
  expect(other.count('/page/7')).toBe(0);
});

test('a cached page of a content type that the crawler does not accept is skipped', async () => {
  const accepts = (type: string | undefined): boolean => type === 'text/html';
  const crawler = defineCrawler({ name: 'page', step: () => ({}), accepts });
  const { site, keep, work, runs } = await cachedTask({ crawler });
  await keep(site.url('/page/1'), 'application/json');
  await work();
  expect(await runs.progress('r')).toMatchObject({ done: 0, reasons: { skipped: { content_type: 1 } } });
});

test('a cached page fails if the crawler’s `accepts` throws', async () => {
  const accepts = (): boolean => {
    throw new Error('no idea');
  };
  const { site, keep, work, runs } = await cachedTask({
    crawler: defineCrawler({ name: 'page', step: () => ({}), accepts }),
  });
  await keep(site.url('/page/1'));
  await work();
  expect(await runs.progress('r')).toMatchObject({ done: 0, reasons: { failed: { step: 1 } } });
});
