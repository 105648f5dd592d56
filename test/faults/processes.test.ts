import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { TcpProxy } from '../support/proxies/tcp-proxy.ts';
import { type Crawl, type Hand, openCrawl, RUN } from './harness/crawl.ts';
import { row } from './harness/row.ts';
import { until } from './harness/until.ts';
import { verdict } from './harness/verdict.ts';

/** Number of lines in all record files of the run, before merging. */
function linesStored({ workplace }: Crawl): number {
  const folder = join(workplace.folder, 'output', RUN);
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return texts.join('').split('\n').length - 1;
}

describe('processes that end', () => {
  row(15, 'a worker is killed in the middle of its fetches', async (round) => {
    const crawl = await openCrawl(round, { site: { delayMs: 40 } });
    await crawl.begin();
    await crawl.someMoment();
    crawl.kill(crawl.anyWorker());
    round.mended();
    // Tasks that it was publishing, or had published without a confirmation, come back when their leases lapse.
    await verdict(crawl, { lapses: true });
  });

  row('15b', 'a worker is killed while it holds all places of a host', async (round) => {
    const crawl = await openCrawl(round, {
      site: { delayMs: 100 },
      perMinute: 'none',
      pages: 60,
      flags: ['--host-concurrency', '2'],
    });
    const only = crawl.startWorker();
    await only.trawl.says(/"consuming"/);
    crawl.produce();
    await crawl.someMoment();
    crawl.kill(only);
    round.mended();
    await crawl.begin();
    await verdict(crawl, { lapses: true });
    expect(crawl.site.mostOpen).toBeLessThanOrEqual(4);
  });

  row(16, 'a worker is killed between storing a record and settling it', async (round) => {
    const proxy = new TcpProxy({ host: '127.0.0.1', port: Number(new URL(inject('redisUrl')).port) });
    await proxy.start();
    onTestFinished(() => proxy.stop());
    const crawl = await openCrawl(round, { site: { delayMs: 500 }, perMinute: 'none', pages: 40 });
    const victim = crawl.startWorker({ env: { REDIS_URL: proxy.inFrontOf(inject('redisUrl')) } });
    await victim.trawl.says(/"consuming"/);
    crawl.produce();
    await crawl.reaches(0.1);
    // From now on it can't settle the pages it fetches, but still stores their records.
    proxy.weather = { blackhole: true };
    await until('records are stored', () => linesStored(crawl) > 0);
    crawl.kill(victim);
    round.mended();
    await crawl.begin();
    await verdict(crawl, { lapses: true });
    expect(linesStored(crawl), 'lines that were written twice').toBeGreaterThan(crawl.expected.size);
  });

  row(17, 'a worker is told to stop under load, and told again', async (round) => {
    // The third worker takes over.
    const crawl = await openCrawl(round, { workers: 3, site: { delayMs: 1_000 }, perMinute: 'none' });
    const path = `/page/${Math.ceil(200 * (0.1 + 0.5 * round.random()))}`;
    // The first request gets no answer, so that its worker still has a page when it is told again.
    crawl.site.on(path, (_, response) => {
      if (crawl.site.count(path) > 1) response.writeHead(200, { 'content-type': 'text/html' }).end('<title>x</title>');
    });
    await crawl.begin();
    await crawl.site.arrival(path);
    const asked = crawl.site.requests.find((request) => request.path === path);
    const second = crawl.workers.find(({ name }) => name === asked?.headers['user-agent']) as Hand;
    const first = crawl.workers.find((hand) => hand !== second) as Hand;
    second.isKilled = true;
    second.trawl.signal('SIGTERM');
    await second.trawl.says(/stopping/);
    // Sent any sooner, it would count as the same one.
    await sleep(200);
    second.trawl.signal('SIGTERM');
    expect((await second.trawl.ended).code, 'stopped at once').toBe(130);
    first.trawl.signal('SIGTERM');
    expect((await first.trawl.ended).code, 'finished what it had').toBe(0);
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row('17b', 'a worker is told to stop while it waits for Redis', async (round) => {
    const proxy = new TcpProxy({ host: '127.0.0.1', port: Number(new URL(inject('redisUrl')).port) });
    await proxy.start();
    onTestFinished(() => proxy.stop());
    const crawl = await openCrawl(round, { site: { delayMs: 40 } });
    const victim = crawl.startWorker({ env: { REDIS_URL: proxy.inFrontOf(inject('redisUrl')) } });
    await crawl.begin();
    await crawl.someMoment();
    proxy.close();
    await victim.trawl.says(/connection lost/);
    victim.trawl.signal('SIGINT');
    const startedAt = performance.now();
    expect((await victim.trawl.ended).code).toBe(130);
    expect(performance.now() - startedAt, 'milliseconds until it has ended').toBeLessThan(20_000);
    victim.isKilled = true;
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row(18, 'the whole fleet is killed at once, and started again', async (round) => {
    const crawl = await openCrawl(round, { site: { delayMs: 40 } });
    await crawl.begin();
    await crawl.someMoment();
    for (const hand of crawl.workers) crawl.kill(hand);
    crawl.killProducer();
    round.mended();
    await crawl.begin();
    await verdict(crawl, { lapses: true });
  });

  row(19, 'a producer is killed in the middle of its sitemaps, and run again', async (round) => {
    const crawl = await openCrawl(round, { pages: 400, trouble: {}, site: { pagesPerSitemap: 10 } });
    const k = Math.ceil(40 * (0.1 + 0.6 * round.random()));
    crawl.produceSitemap();
    await crawl.site.arrival(`/sitemap/${k}.xml`);
    crawl.killProducer();
    round.mended();
    // It counts as lost after 60 s, which the short form skips; then it is run again, as status advises.
    await crawl.loseProducers();
    await crawl.begin(false);
    crawl.produceSitemap();
    await verdict(crawl, { lapses: true });
  });

  row(
    '19b',
    'a producer is killed in the middle of its sitemaps, and one with other seeds joins its run',
    async (round) => {
      const crawl = await openCrawl(round, { pages: 400, trouble: {}, site: { pagesPerSitemap: 10 } });
      const k = Math.ceil(40 * (0.1 + 0.6 * round.random()));
      crawl.produceSitemap();
      await crawl.site.arrival(`/sitemap/${k}.xml`);
      crawl.killProducer();
      await crawl.loseProducers();
      await crawl.begin(false);
      const other = await crawl.workplace.run([
        'produce',
        crawl.site.url('/page/1'),
        '--run',
        RUN,
        ...crawl.produceFlags,
      ]);
      expect(other.code, other.stderr).toBe(0);
      await until('all that was offered is over', async () => {
        const progress = await crawl.progress();
        return progress !== undefined && progress.waiting + progress.inFlight === 0;
      });
      const left = { state: 'running', sealed: false, producers: { open: 0, lost: 1 } };
      expect(await crawl.progress(), 'half a sitemap is missing').toMatchObject(left);
      round.mended();
      crawl.produceSitemap();
      await verdict(crawl, { lapses: true });
    },
  );

  row(20, 'two producers offer the same sitemap to one run', async (round) => {
    const crawl = await openCrawl(round, { pages: 400, trouble: {}, site: { pagesPerSitemap: 10 } });
    const workers = crawl.begin(false);
    const [one, other] = [crawl.produceSitemap(), crawl.produceSitemap()];
    await workers;
    expect([(await one.ended).code, (await other.ended).code]).toEqual([0, 0]);
    round.mended();
    await verdict(crawl);
    expect((await crawl.progress())?.duplicate).toBe(400);
  });

  row(24, 'a page kills every worker that fetches it', async (round) => {
    const crawl = await openCrawl(round, { trouble: { '/poison': 'failed:crash_loop' }, perMinute: 6_000 });
    crawl.site.on('/poison', (request) => {
      const agent = request.headers['user-agent'];
      crawl.kill(crawl.workers.find(({ name }) => name === agent));
      crawl.startWorker();
    });
    await crawl.begin();
    round.mended();
    await verdict(crawl, { faults: 7, lapses: true, withinMs: 90_000 });
    expect(crawl.site.count('/poison')).toBe(6);
  });
});
