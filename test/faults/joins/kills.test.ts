import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { allProducts } from '../../support/practice/shop.ts';
import { TcpProxy } from '../../support/proxies/tcp-proxy.ts';
import { type Crawl, type Hand, RUN } from '../harness/crawl.ts';
import { type Round, row } from '../harness/row.ts';
import { until } from '../harness/until.ts';
import { verdict } from '../harness/verdict.ts';
import { holdingAt, letGo, openJoinCrawl } from './join-crawl.ts';

/** Points just before a record is stored, with its step: at a page that owns a group, at a member, in a join of each kind. */
const BEFORE_ITS_RECORD = {
  'product-offered': 'product',
  'price-offered': 'price',
  'reviews-offered': 'reviews',
  'offer-made': 'offer',
  'label-made': 'label',
  'report-made': 'report',
} as const;
const IN_JOINS = ['offer-made', 'label-made', 'report-made'] as const;
const WORKERS = { workers: 2 };

/** Picks one of them by the seed. */
function anyOf<T>({ random }: Round, all: readonly T[]): T {
  return all[Math.floor(random() * all.length)] as T;
}

/** Picks a point before a record, and the step or join of that record. */
function anyPlace(round: Round): readonly [point: string, step: string] {
  return anyOf(round, Object.entries(BEFORE_ITS_RECORD));
}

/** Number of record lines stored for a step, before merging. */
function linesOf({ workplace }: Crawl, step: string): number {
  const folder = join(workplace.folder, 'output', RUN);
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return texts.join('').split(`"step":"${step}"`).length - 1;
}

/** Starts a single worker and a producer, and resolves when the worker waits at this point. */
async function holdOne(crawl: Crawl, point: string, env: Readonly<Record<string, string>> = {}): Promise<Hand> {
  const only = crawl.startWorker({ env: { ...holdingAt(crawl, point), ...env } });
  await only.trawl.says(/"consuming"/);
  crawl.produce();
  await only.trawl.says(new RegExp(`"held":"${point}"`));
  return only;
}

async function proxyTo(url: string): Promise<TcpProxy> {
  const proxy = new TcpProxy({ host: '127.0.0.1', port: Number(new URL(url).port) });
  await proxy.start();
  onTestFinished(() => proxy.stop());
  return proxy;
}

/** Lets other workers take over, and checks the verdict. */
async function othersFinish(crawl: Crawl, round: Round): Promise<void> {
  round.mended();
  await crawl.begin(false);
  await verdict(crawl, { lapses: true });
}

describe('a worker of a crawl with joins is killed', () => {
  row(46, 'a worker is killed after it has offered the links of a page that owns a group', async (round) => {
    const crawl = await openJoinCrawl(round, WORKERS);
    crawl.kill(await holdOne(crawl, 'product-offered'));
    expect((await crawl.progress())?.openGroups).toBeGreaterThan(0);
    await othersFinish(crawl, round);
  });

  row('46b', 'a worker is killed between the record of a page or join and its settle', async (round) => {
    const crawl = await openJoinCrawl(round, WORKERS);
    const [point, step] = anyPlace(round);
    const proxy = await proxyTo(inject('redisUrl'));
    const only = await holdOne(crawl, point, { REDIS_URL: proxy.inFrontOf(inject('redisUrl')) });
    expect(linesOf(crawl, step)).toBe(0);
    proxy.weather = { blackhole: true };
    letGo(crawl, point);
    await until(`a record of ${step} is stored`, () => linesOf(crawl, step) > 0);
    crawl.kill(only);
    await othersFinish(crawl, round);
    const merged = crawl.joined?.records.filter((record) => record.step === step).length;
    expect(linesOf(crawl, step), `lines of ${step}, one of them twice`).toBeGreaterThan(merged ?? 0);
  });

  row('46c', 'a worker is killed between the settle of a page or join and its acknowledgement', async (round) => {
    const crawl = await openJoinCrawl(round, WORKERS);
    const [point, step] = anyPlace(round);
    const proxy = await proxyTo(inject('rabbitmqUrl'));
    const only = await holdOne(crawl, point, { RABBITMQ_URL: proxy.inFrontOf(inject('rabbitmqUrl')) });
    proxy.weather = { blackhole: true };
    letGo(crawl, point);
    await until(`a ${step} is settled`, async () => ((await crawl.progress())?.steps?.[step]?.done ?? 0) > 0);
    crawl.kill(only);
    // Its unsent acks are lost with it, so the broker gives its deliveries to others.
    proxy.cut();
    proxy.weather = {};
    await othersFinish(crawl, round);
  });

  row('46d', 'a worker is killed inside a join', async (round) => {
    const crawl = await openJoinCrawl(round, WORKERS);
    crawl.kill(await holdOne(crawl, anyOf(round, IN_JOINS)));
    await othersFinish(crawl, round);
  });
});

describe('graphs and runs that come back', () => {
  row(50, 'pages that own groups link to themselves, to each other, and back; a worker is killed', async (round) => {
    const crawl = await openJoinCrawl(round, { crawler: 'loops', made: { offer: 40 } });
    await crawl.begin();
    await crawl.someMoment();
    crawl.kill(crawl.anyWorker());
    round.mended();
    await verdict(crawl, { lapses: true });
    const offers = crawl.joined?.records.filter(({ step }) => step === 'offer').map(({ data }) => data);
    expect(offers).toHaveLength(40);
    expect(offers).toEqual(expect.arrayContaining(allProducts().map(({ name, price }) => ({ name, price }))));
  });

  row(
    51,
    'a run takes more seeds while its own join is in progress, on a worker that is killed or not',
    async (round) => {
      const [half, whole] = ['/all/?page=3', '/all/'];
      const made = { offer: 40, label: 40, report: 2 };
      const crawl = await openJoinCrawl(round, { ...WORKERS, seed: half, made });
      const holding = await holdOne(crawl, 'report-made');
      await crawl.begin(false);
      const more = await crawl.workplace.run(['produce', crawl.urlOf(whole), '--run', RUN, ...crawl.produceFlags]);
      expect(more.code, more.stderr).toBe(0);
      await until('the rest is joined', async () => (await crawl.progress())?.steps?.label?.done === 40);
      expect((await crawl.progress())?.steps?.report, 'the first report is in hand').toMatchObject({
        ...{ discovered: 1, done: 0 },
      });
      if (round.random() < 0.5) crawl.kill(holding);
      letGo(crawl, 'report-made');
      round.mended();
      await verdict(crawl, { lapses: true });
    },
  );
});
