import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { allDone, TROUBLE } from './harness/catalogue.ts';
import { type Crawl, openCrawl, RUN } from './harness/crawl.ts';
import { row } from './harness/row.ts';
import { ownServers } from './harness/servers.ts';
import { until } from './harness/until.ts';
import { verdict } from './harness/verdict.ts';

const servers = ownServers('redis');

/** Pages of links, one of which is caught between its offers and its settle. */
const LISTS = ['/list/1', '/list/2', '/list/3'];
/** Makes a page's record large, so that the page can be caught while the record is stored. */
const FILLER = `<p>${'Lorem ipsum. '.repeat(200_000)}</p>`;

function linksOf(list: string): string[] {
  return [1, 2, 3, 4, 5].map((n) => `${list}/item/${n}`);
}

/** Holds the first request for each list, and answers later ones at once. Returns a function that answers the held request of a list. */
function holdLists({ site }: Crawl): (list: string) => void {
  const held = new Map<string, () => void>();
  for (const list of LISTS) {
    const links = linksOf(list).map((href) => `<a href="${href}">${href}</a>`);
    site.on(list, (_, response) => {
      const answer = (): void => {
        if (!response.headersSent)
          response.writeHead(200, { 'content-type': 'text/html' }).end(links.join('') + FILLER);
      };
      if (held.has(list)) answer();
      else held.set(list, answer);
    });
    for (const path of linksOf(list))
      site.on(path, (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>x</p>'));
  }
  return (list) => held.get(list)?.();
}

/** The state of a page in the ledger: `offered` once all its links are counted there. */
async function stateOf({ redis, prefix, site }: Crawl, list: string): Promise<'working' | 'offered' | 'gone'> {
  const entries = await redis.hvals(`${prefix}run:${RUN}:inflight`);
  const entry = entries.find((each) => each.includes(`\t${site.url(list)}\t`));
  if (entry === undefined) return 'gone';
  return new RegExp(`^working\\S+/${linksOf(list).length} `).test(entry) ? 'offered' : 'working';
}

describe('Redis loses its last second', () => {
  row(45, 'Redis comes back a second older, between the links of a page and its end', async (round) => {
    const { redis } = servers();
    const crawl = await openCrawl(round, {
      redisUrl: redis.url,
      // The number that the allowance for pages fetched again is based on.
      workers: 3,
      perMinute: 1_500,
      trouble: { ...allDone(LISTS), ...TROUBLE },
      linked: allDone(LISTS.flatMap(linksOf)),
    });
    const answer = holdLists(crawl);
    await crawl.begin(false);
    crawl.produce(['--wait', '--json', '--follow', '--max-depth', '1', '--content', 'html']);
    await Promise.all([...LISTS.map((list) => crawl.site.arrival(list)), crawl.someMoment()]);
    const bringBack = await redis.keep();
    await sleep(1_000);
    let caught: string | undefined;
    for (const list of LISTS) {
      answer(list);
      let state = await stateOf(crawl, list);
      while (state === 'working') state = await stateOf(crawl, list);
      if (state === 'gone') continue;
      // From here on, nothing is settled. Was this one?
      await redis.command('CLIENT', 'PAUSE', '60000', 'WRITE');
      if ((await stateOf(crawl, list)) === 'offered') {
        caught = list;
        break;
      }
      await redis.command('CLIENT', 'UNPAUSE');
    }
    expect(caught, 'a page was caught between its offers and its settle').toBeDefined();
    // Its worker has stored the record, and waits for the answer to its settle.
    await redis.kill();
    await bringBack();
    await redis.start();
    round.mended();
    for (const list of LISTS) answer(list);
    await until('the page is put back', () => crawl.said.includes('the store has lost links of the page'));
    // Pages fetched in the lost second are fetched again: Redis may hold such a page as queued, without a delivery.
    await verdict(crawl, { faults: 4, lapses: 'queued too' });
  });
});
