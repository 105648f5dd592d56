import { describe, expect } from 'vitest';
import type { Ending } from './harness/catalogue.ts';
import { openCrawl, RUN, WORKERS } from './harness/crawl.ts';
import { row } from './harness/row.ts';
import { verdict } from './harness/verdict.ts';

describe('queues and exchanges are changed under the fleet', () => {
  row(6, 'an exchange is deleted: publishing to it closes the channel', async (round) => {
    const crawl = await openCrawl(round);
    await crawl.begin();
    await crawl.someMoment();
    await crawl.onChannel(async (channel) => void (await channel.deleteExchange(`${crawl.prefix}crawl`)));
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row(7, 'a queue is deleted under its consumers', async (round) => {
    const crawl = await openCrawl(round);
    await crawl.produceOnly();
    await crawl.begin();
    await crawl.someMoment();
    await crawl.onChannel(async (channel) => void (await channel.deleteQueue(`${crawl.prefix}url_queue_ttl`)));
    round.mended();
    await verdict(crawl, { lapses: 'queued too', withinMs: 120_000 });
  });

  row(14, 'a queue is unbound: messages have nowhere to go', async (round) => {
    const crawl = await openCrawl(round);
    await crawl.begin();
    await crawl.someMoment();
    const names = [`${crawl.prefix}url_queue_ttl`, `${crawl.prefix}crawl`, 'normal'] as const;
    await crawl.onChannel(async (channel) => void (await channel.unbindQueue(...names)));
    round.mended();
    await verdict(crawl);
  });

  row(27, 'the queue of dead letters is deleted', async (round) => {
    const missing = Array.from({ length: 40 }, (_, n): [string, Ending] => [`/missing/${n}`, 'failed:http_4xx']);
    const crawl = await openCrawl(round, { trouble: Object.fromEntries(missing), pages: 160 });
    await crawl.begin();
    await crawl.reaches(0.1);
    const before = crawl.site.requests.filter(({ path }) => path.startsWith('/missing')).length;
    await crawl.onChannel(async (channel) => void (await channel.deleteQueue(`${crawl.prefix}failed_urls`)));
    round.mended();
    await crawl.ends(60_000, true);
    expect((await crawl.progress())?.failed).toBe(40);
    // Earlier letters were lost with their queue; later ones exist.
    const letters = await crawl.workplace.json(['dlq', 'list', '--run', RUN]);
    expect(letters.length).toBeGreaterThanOrEqual(40 - before - WORKERS * 8);
  });
});
