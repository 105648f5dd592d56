import { describe } from 'vitest';
import { openCrawl } from './crawl.ts';
import { row } from './row.ts';
import { verdict } from './verdict.ts';

describe('processes that end', () => {
  row(15, 'a worker is killed in the middle of its fetches', async (round) => {
    const crawl = await openCrawl(round, { site: { delayMs: 40 } });
    await crawl.begin();
    await crawl.someMoment();
    crawl.kill(crawl.anyWorker());
    round.mended();
    await verdict(crawl);
  });

  row(18, 'the whole fleet is killed at once, and started again', async (round) => {
    const crawl = await openCrawl(round, { site: { delayMs: 40 } });
    await crawl.begin();
    await crawl.someMoment();
    for (const hand of crawl.workers) crawl.kill(hand);
    crawl.producer?.signal('SIGKILL');
    round.mended();
    await crawl.begin();
    await verdict(crawl);
  });
});
