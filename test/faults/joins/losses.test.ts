import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { htmlOf, serve } from '../../support/practice/serve.ts';
import { TestSite } from '../../support/site.ts';
import { type Crawl, RUN } from '../harness/crawl.ts';
import { inForm } from '../harness/form.ts';
import { row } from '../harness/row.ts';
import { ownServers } from '../harness/servers.ts';
import { until } from '../harness/until.ts';
import { verdict } from '../harness/verdict.ts';
import { holdingAt, letGo, openJoinCrawl } from './join-crawl.ts';

const servers = ownServers('redis');

/** Number of open groups when Redis is full. */
const GROUPS = inForm(10_000, 1_000);
const ON_A_LIST = 500;
/** Products on the list that is crawled when Redis is full. */
const LATE = 10;

/** Starts a site for one test. */
async function openSite(): Promise<TestSite> {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  return site;
}

/** Serves lists of products with their prices at another host, and a last list at a third. */
function serveWide({ site }: Crawl, prices: TestSite, last: TestSite): void {
  const lists = GROUPS / ON_A_LIST;
  const linksOf = (from: number, to: number): string =>
    Array.from(
      { length: to - from },
      (_, at) => `<a class="product" href="${site.url(`/wide/${from + at}`)}">x</a>`,
    ).join('');
  for (let list = 0; list < lists; list++) {
    const next = list + 1 < lists ? `/lists/${list + 1}` : last.url('/late');
    const links = linksOf(list * ON_A_LIST, (list + 1) * ON_A_LIST);
    serve(site, list === 0 ? '/all/' : `/lists/${list}`, () =>
      htmlOf('List', `${links}<a class="next" href="${next}">x</a>`),
    );
  }
  serve(last, '/late', () => htmlOf('List', linksOf(GROUPS, GROUPS + LATE)));
  for (let n = 0; n < GROUPS + LATE; n++) {
    const price = `<a class="buy" href="${prices.url(`/price/${n}`)}">Buy</a>`;
    serve(site, `/wide/${n}`, () => htmlOf(`Product ${n}`, `<h1>Product ${n}</h1>${price}`));
    serve(prices, `/price/${n}`, () => htmlOf('Price', `<p class="price">${n + 1}.50 €</p>`));
  }
}

async function usedBytes(crawl: Crawl): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await crawl.redis.info('memory'))?.[1]);
}

describe('a crawl with joins loses stored data', () => {
  row(
    47,
    'Redis comes back a second older, between the links of a page that owns a group and its end',
    async (round) => {
      const { redis } = servers();
      const crawl = await openJoinCrawl(round, { redisUrl: redis.url, workers: 3, perMinute: 1_500 });
      const holding = crawl.startWorker({ env: holdingAt(crawl, 'product-read', 'product-offered') });
      await crawl.begin();
      await holding.trawl.says(/"held":"product-read"/);
      const bringBack = await redis.keep();
      await sleep(1_000);
      letGo(crawl, 'product-read');
      // Other pages may overtake it; those admitted in the lost second have no links to lose.
      const [, inHand = ''] = /"held":"product-read","url":"([^"]+)"/.exec(holding.trawl.said) ?? [];
      await holding.trawl.says(new RegExp(`"held":"product-offered","url":"${RegExp.escape(inHand)}"`));
      await redis.kill();
      await bringBack();
      await redis.start();
      round.mended();
      letGo(crawl, 'product-offered');
      await until('the page is put back', () => holding.trawl.said.includes('the store has lost links of the page'));
      // Pages fetched in the lost second are fetched again; tasks queued before it have no message any more.
      await verdict(crawl, { faults: 4, lapses: 'queued too' });
    },
  );

  row(
    48,
    'both queues are lost while groups are open',
    async (round) => {
      const crawl = await openJoinCrawl(round, { redisUrl: servers().redis.url, slots: 2, site: { delayMs: 40 } });
      await crawl.begin();
      await crawl.someMoment();
      await until('groups are open', async () => ((await crawl.progress())?.openGroups ?? 0) > 0);
      await crawl.onChannel(async (channel) => {
        for (const queue of ['priority_queue', 'url_queue_ttl']) await channel.deleteQueue(`${crawl.prefix}${queue}`);
      });
      round.mended();
      await verdict(crawl, { lapses: 'queued too', withinMs: 120_000 });
    },
    240_000,
  );

  row(
    49,
    `Redis is full with ${GROUPS} open groups, and has room again as they end`,
    async (round) => {
      const { redis } = servers();
      const [prices, last] = await Promise.all([openSite(), openSite()]);
      const crawl = await openJoinCrawl(round, {
        ...{ redisUrl: redis.url, crawler: 'wide', perMinute: 'none', made: { offer: GROUPS + LATE } },
        serve: (served) => serveWide(served, prices, last),
      });
      last.reset();
      serveWide(crawl, prices, last);
      for (const { host } of [prices, last]) await crawl.workplace.run(['pause', '--host', host]);
      await crawl.begin();
      await until('all groups are open', async () => (await crawl.progress())?.openGroups === GROUPS, {
        withinMs: inForm(240_000, 60_000),
      });
      await until('nothing else moves', async () => (await crawl.progress())?.inFlight === 0);
      await redis.command('CONFIG', 'SET', 'maxmemory', String(Math.floor((await usedBytes(crawl)) / 0.97)));
      try {
        await crawl.workplace.run(['resume', '--host', last.host]);
        await last.arrival('/late');
        await until('its links are refused', async () => (await crawl.progress())?.inFlight === 0);
        expect(await crawl.progress(), 'nothing is taken that begins groups').toMatchObject({ openGroups: GROUPS });
        await crawl.workplace.run(['resume', '--host', prices.host]);
        round.mended();
        await verdict(crawl, { faults: 100, withinMs: inForm(240_000, 60_000) });
      } finally {
        await redis.command('CONFIG', 'SET', 'maxmemory', '0');
      }
    },
    inForm(600_000, 180_000),
  );

  row(
    55,
    'Redis is full and no page can end: the run is paused, says so, and ends once Redis has more memory',
    async (round) => {
      const { redis } = servers();
      const crawl = await openJoinCrawl(round, { redisUrl: redis.url, perMinute: 600 });
      const { host } = crawl.site;
      await crawl.begin();
      await crawl.reaches(0.1);
      await crawl.workplace.run(['pause', '--host', host]);
      await until('nothing moves', async () => (await crawl.progress())?.inFlight === 0);
      const limit = Math.floor((await usedBytes(crawl)) * 0.8);
      await redis.command('CONFIG', 'SET', 'maxmemory', String(limit));
      try {
        await crawl.workplace.run(['resume', '--host', host]);
        await until('the run is paused', async () => (await crawl.progress())?.state === 'paused');
        const paused = await crawl.progress();
        expect(paused?.pauseReason).toMatch(/^Redis is full: needs about \d+ MiB more \(maxmemory\)/);
        expect(paused?.waiting).toBeGreaterThan(0);
        expect(await crawl.workplace.json(['status', RUN])).toMatchObject({ pauseReason: paused?.pauseReason });
        expect(crawl.said).toContain('run paused, since none of its tasks can end');
        const asked = crawl.site.requests.length;
        await sleep(3_000);
        expect(crawl.site.requests.length, 'nobody is asked in vain').toBe(asked);
        await redis.command('CONFIG', 'SET', 'maxmemory', String(limit * 4));
        await crawl.workplace.run(['resume', RUN]);
        round.mended();
        await verdict(crawl, { faults: 100 });
      } finally {
        await redis.command('CONFIG', 'SET', 'maxmemory', '0');
      }
    },
  );
});
