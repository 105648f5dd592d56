import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { CUSTOMER } from '../../support/practice/account.ts';
import { example } from '../../support/practice/open.ts';
import { type OnTheWay, onTheWay } from '../../support/processes/kills.ts';
import type { Crawl, Joined } from '../harness/crawl.ts';
import { inForm } from '../harness/form.ts';
import { type Round, row } from '../harness/row.ts';
import { ownServers } from '../harness/servers.ts';
import { verdict } from '../harness/verdict.ts';
import { openJoinCrawl } from './join-crawl.ts';

const servers = ownServers('rabbitmq', 'redis');

const KILLS = inForm(30, 6);
const PRODUCTS = inForm(200, 40);
/** New pages between two kills: a page that kills six workers in a row is a crash loop, and fails. */
const EVERY = inForm(15, 15);
const SECOND_MS = 1_000;
/** Slow enough that a second is only a part of the crawl. */
const PER_MINUTE = 1_500;

/** Prepares a crawl of the shop with an example, on three workers. */
async function openExample(round: Round, crawler: string, made: NonNullable<Joined['made']>): Promise<Crawl> {
  const { rabbitmq, redis } = servers();
  return await openJoinCrawl(round, {
    ...{ rabbitmqUrl: rabbitmq.url, redisUrl: redis.url, workers: 3, slots: 4 },
    ...{ crawler, made, products: PRODUCTS, perMinute: PER_MINUTE },
    env: { CRAWLERS_DIR: dirname(example(crawler)), ...CUSTOMER },
  });
}

/** Kills one worker after the other, and replaces each. */
function kills(crawl: Crawl): OnTheWay[] {
  return Array.from({ length: KILLS }, (_, n) => ({
    isDue: (pages) => pages >= (n + 1) * EVERY,
    act: async () => {
      crawl.kill(crawl.workers.find(({ isKilled }) => !isKilled));
      await crawl.startWorker().trawl.says(/"consuming"/);
    },
  }));
}

/** Copies Redis' data after `from` pages, and restarts it on the copy a second later. */
function aSecondOlder(from: number): OnTheWay[] {
  const { redis } = servers();
  let bringBack = async (): Promise<void> => {};
  let keptAt = 0;
  return [
    {
      isDue: (pages) => pages >= from,
      act: async () => {
        bringBack = await redis.keep();
        keptAt = performance.now();
      },
    },
    {
      isDue: () => performance.now() - keptAt > SECOND_MS,
      act: async () => {
        await redis.kill();
        await bringBack();
        await redis.start();
      },
    },
  ];
}

/** Wipes the broker after `from` pages, and runs `doctor --release`, as the manual says. */
function brokerWiped(crawl: Crawl, from: number): OnTheWay {
  return {
    isDue: (pages) => pages >= from,
    act: async () => {
      for (const command of ['stop_app', 'reset', 'start_app']) await servers().rabbitmq.ctl(command);
      expect((await crawl.workplace.run(['doctor', '--release'])).code).toBe(0);
    },
  };
}

describe('the examples, while things break', () => {
  row(
    52,
    `the example with joins: ${KILLS} kills, Redis a second older, and a broker that lost everything`,
    async (round) => {
      const crawl = await openExample(round, 'offers', { offer: PRODUCTS, report: 1 });
      await crawl.begin();
      const all = kills(crawl);
      const third = Math.floor(KILLS / 3);
      all.splice(2 * third, 0, brokerWiped(crawl, 2 * third * EVERY));
      all.splice(third, 0, ...aSecondOlder(third * EVERY));
      const done = onTheWay(crawl.site, all);
      await verdict(crawl, {
        ...{ faults: all.length, lapses: 'queued too', extraLetters: 0, withinMs: inForm(300_000, 90_000) },
      });
      expect(done(), 'things that were done on the way').toBe(all.length);
    },
    inForm(900_000, 240_000),
  );

  row(53, 'the example of a shop: Redis a second older, once', async (round) => {
    const crawl = await openExample(round, 'shop', {});
    await crawl.begin();
    const all = aSecondOlder(Math.floor(crawl.expected.size * (0.2 + 0.4 * round.random())));
    const done = onTheWay(crawl.site, all);
    await verdict(crawl, { faults: 4, lapses: 'queued too' });
    expect(done(), 'Redis was started on older data').toBe(all.length);
  });
});
