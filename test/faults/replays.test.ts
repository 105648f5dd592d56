import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { RunProgress } from '../../shared/ports/runs.ts';
import { RedisRuns } from '../../shared/stores/redis/runs.ts';
import { CUSTOMER } from '../support/practice/account.ts';
import { example, servePractice } from '../support/practice/open.ts';
import { allProducts } from '../support/practice/shop.ts';
import { testTransport } from '../support/stores/rabbitmq.ts';
import { type Crawl, openCrawl, RUN } from './harness/crawl.ts';
import { row } from './harness/row.ts';
import { until } from './harness/until.ts';
import { timeRecovery } from './harness/verdict.ts';

/** The row crawls twice, and tasks that a killed worker was publishing come back when their leases lapse. */
const TIMEOUT_MS = 300_000;

/** The pages that fail at first: some prices, without which a product has no offer, and some reviews. */
const BROKEN = allProducts().flatMap((_, at) => {
  const n = at + 1;
  return [
    ...(n % 4 === 0 ? [`/product/${n}/price`] : []),
    ...(n % 5 === 0 && n % 3 > 0 ? [`/product/${n}/reviews`] : []),
  ];
});
const OWNERS = [...new Set(BROKEN.map((path) => Number(path.split('/')[2])))];
/** The pages that a replay requests: the groups of these owners, and nothing else. */
const GROUPS = OWNERS.flatMap((n) => [
  `/product/${n}`,
  `/product/${n}/price`,
  ...(n % 3 > 0 ? [`/product/${n}/reviews`] : []),
]);

/** The whole offers of the owners. */
const WHOLE = OWNERS.map((n) => {
  const { name, price, reviews } = allProducts()[n - 1] as ReturnType<typeof allProducts>[number];
  return { name, price, stars: reviews.map(({ stars }) => stars), missing: 0 };
});

async function lettersLeft({ rabbitmqUrl, prefix }: Crawl): Promise<number> {
  const transport = testTransport(rabbitmqUrl, prefix);
  await transport.start();
  try {
    return (await transport.depths()).failed.ready;
  } finally {
    await transport.stop();
  }
}

/** The progress of all replays so far. */
async function replaysOf({ redis, prefix }: Crawl): Promise<RunProgress[]> {
  const runs = new RedisRuns({ redis, prefix, marks: 'exact' });
  const found: RunProgress[] = [];
  for (let n = 1; ; n++) {
    const progress = await runs.progress(`${RUN}-replay-${n}`);
    if (progress === undefined) return found;
    found.push(progress);
  }
}

describe('replays', () => {
  row(
    54,
    'a replay of groups whose owners are known is killed, and a worker with it',
    async (round) => {
      const crawl = await openCrawl(round, {
        ...{ pages: 0, trouble: { '/all/': 'done' }, perMinute: 'none' },
        env: { CRAWLER: 'offers', CRAWLERS_DIR: dirname(example('offers')), ...CUSTOMER },
      });
      const { site, workplace, redis, prefix } = crawl;
      servePractice(site);
      for (const path of BROKEN) site.on(path, (_, response) => void response.writeHead(404).end());
      await crawl.begin(false);
      await crawl.produce().ended;
      expect((await crawl.progress())?.options.dedup).toBe('ever');
      const letters = await lettersLeft(crawl);
      expect(letters, 'a letter of each page, and of each offer without its price').toBe(BROKEN.length + 10);

      site.reset();
      servePractice(site);
      const replay = workplace.start(['dlq', 'replay']);
      const discovered = async () => Number(await redis.hget(`${prefix}run:${RUN}-replay-1`, 'discovered'));
      await until('the replay has offered owners', async () => (await discovered()) > 0);
      await sleep(100 * round.random());
      replay.signal('SIGKILL');
      await replay.ended;
      await site.arrivals(Math.ceil(GROUPS.length * round.random()));
      crawl.kill(crawl.anyWorker());
      round.mended();
      // The broker takes a moment to give back what a killed process held.
      const isEmpty = async (): Promise<boolean> => {
        await workplace.json(['dlq', 'replay']);
        return (await lettersLeft(crawl)) === 0;
      };
      await until('all letters are replayed', isEmpty, { withinMs: 60_000 });
      // A replay killed between its last letter and its end leaves a run that nothing else seals.
      for (const { run, sealed } of await replaysOf(crawl)) if (!sealed) await workplace.json(['seal', run]);
      const areOver = async (): Promise<boolean> =>
        (await replaysOf(crawl)).every(({ endedAt }) => endedAt !== undefined);
      await until('the replays end', areOver, { withinMs: 135_000 });
      timeRecovery(crawl);

      const replays = await replaysOf(crawl);
      for (const { run, waiting, inFlight, done, skipped, failed, cancelled, discovered: all, openGroups } of replays) {
        expect(waiting + inFlight + done + skipped + failed + cancelled, run).toBe(all);
        expect({ waiting, inFlight, skipped, failed, cancelled, openGroups }, run).toEqual({
          ...{ waiting: 0, inFlight: 0, skipped: 0, failed: 0, cancelled: 0, openGroups: 0 },
        });
      }
      const done = replays.reduce((sum, each) => sum + each.done, 0);
      expect(done, 'each owner with its group, and its offer, once').toBe(GROUPS.length + OWNERS.length);
      const offers: unknown[] = [];
      for (const { run } of replays) {
        const records = await workplace.records(run, '--step', 'offer');
        offers.push(...records.map(({ data }) => data));
      }
      expect(offers.map((each) => JSON.stringify(each)).toSorted()).toEqual(
        WHOLE.map((each) => JSON.stringify(each)).toSorted(),
      );
      expect([...new Set(site.requests.map(({ path }) => path))].toSorted()).toEqual(GROUPS.toSorted());
      expect(await lettersLeft(crawl)).toBe(0);
      await crawl.endWorkers();
    },
    TIMEOUT_MS,
  );
});
