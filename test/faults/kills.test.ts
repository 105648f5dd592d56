import { describe } from 'vitest';
import { type Crawl, openCrawl } from './harness/crawl.ts';
import { inForm } from './harness/form.ts';
import { row } from './harness/row.ts';
import { verdict } from './harness/verdict.ts';

const KILLS = inForm(200, 10);
const PAGES = inForm(20_000, 1_000);
const WORKERS = 4;

/** Kills a worker, sometimes the producer, or rarely all workers at once, and starts replacements. */
async function killSomething(crawl: Crawl): Promise<void> {
  const dice = crawl.round.random();
  if (dice < 0.1) {
    crawl.killProducer();
    await crawl.loseProducers();
    crawl.produce();
  } else if (dice < 0.15) {
    for (const hand of crawl.workers.filter(({ isKilled }) => !isKilled)) crawl.kill(hand);
    for (let n = 0; n < WORKERS; n++) crawl.startWorker();
  } else {
    crawl.kill(crawl.anyWorker());
    crawl.startWorker();
  }
}

describe('processes killed at any instant', () => {
  row(
    'kills',
    `${KILLS} kills in a crawl of ${PAGES} URLs`,
    async (round) => {
      // Slow enough that the long form takes about five minutes.
      const crawl = await openCrawl(round, {
        pages: PAGES,
        workers: WORKERS,
        slots: 4,
        perMinute: 'none',
        site: { delayMs: inForm(200, 100) },
      });
      await crawl.begin();
      const moments = Array.from({ length: KILLS }, () => 0.02 + 0.9 * round.random()).toSorted((a, b) => a - b);
      for (const share of moments) {
        await crawl.reaches(share);
        await killSomething(crawl);
      }
      round.mended();
      // A worker told to stop before it handles signals would be ended by the signal.
      for (const { trawl, isKilled } of crawl.workers) if (!isKilled) await trawl.says(/"consuming"/);
      // A producer that was restarted just as the run ended opens it once more, and ends it.
      await crawl.ends(inForm(600_000, 90_000), true);
      await crawl.producer?.ended;
      await verdict(crawl, { faults: KILLS, lapses: true, withinMs: inForm(600_000, 90_000), extraLetters: KILLS });
    },
    inForm(1_200_000, 240_000),
  );
});
