import { afterAll, beforeAll, describe } from 'vitest';
import { needPrograms } from '../support/servers/ladder.ts';
import { type PrivateServers, privateServers } from '../support/servers/programs.ts';
import { type Crawl, type CrawlOptions, openCrawl } from './crawl.ts';
import { type Round, row } from './row.ts';
import { verdict } from './verdict.ts';

let servers: PrivateServers;
beforeAll(async () => {
  servers = await privateServers(needPrograms());
  await servers.rabbitmq.start();
});
afterAll(() => servers.remove());

async function begin(round: Round, options: CrawlOptions = {}): Promise<Crawl> {
  const crawl = await openCrawl(round, { rabbitmqUrl: servers.rabbitmq.url, ...options });
  await crawl.begin();
  await crawl.someMoment();
  return crawl;
}

describe('the broker breaks', () => {
  row(1, 'the broker is restarted in good order', async (round) => {
    const crawl = await begin(round);
    await servers.rabbitmq.ctl('stop_app');
    await servers.rabbitmq.ctl('start_app');
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row(2, 'the broker is killed, and starts again on its data', async (round) => {
    const crawl = await begin(round);
    await servers.rabbitmq.kill();
    await servers.rabbitmq.start();
    round.mended();
    // What was being published has an unknown fate, and waits for its lease.
    await verdict(crawl, { lapses: true });
  });

  row(5, 'the broker closes every connection, again and again', async (round) => {
    const crawl = await begin(round, { pages: 400 });
    for (let times = 0; times < 4; times++) await servers.rabbitmq.ctl('close_all_connections', 'a fault');
    round.mended();
    await verdict(crawl, { faults: 4, lapses: true });
  });
});
