import { describe, expect, onTestFinished } from 'vitest';
import { freePort } from '../support/servers/machine.ts';
import { TestSite } from '../support/site.ts';
import type { Ending } from './harness/catalogue.ts';
import { openCrawl } from './harness/crawl.ts';
import { mostWithin } from './harness/host-limits.ts';
import { row } from './harness/row.ts';
import { verdict } from './harness/verdict.ts';

function endings(urls: readonly string[], ending: Ending): Record<string, Ending> {
  return Object.fromEntries(urls.map((url) => [url, ending]));
}

async function anotherSite(): Promise<TestSite> {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  return site;
}

describe('sites break', () => {
  row(33, 'a tarpit beside a healthy site', async (round) => {
    const tarpit = await anotherSite();
    const traps = Array.from({ length: 5 }, (_, n) => tarpit.url(`/drip?ms=100&bytes=1000000&${n}`));
    const secondsWith = async (trouble: Record<string, Ending>): Promise<number> => {
      // Five pages of one attempt each: the fifth time-out in a row opens the tarpit's breaker, and anything not under way by
      // then, another page or a second attempt, would wait for the breaker.
      const flags = ['--fetch-timeout', '2s', '--host-concurrency', '4', '--max-attempts', '1'];
      const crawl = await openCrawl(round, { trouble, workers: 2, pages: 200, perMinute: 1_800, flags });
      await crawl.begin();
      round.mended();
      await verdict(crawl);
      const pages = crawl.site.requests.map(({ at }) => at);
      return ((pages.at(-1) ?? 0) - (pages[0] ?? 0)) / 1_000;
    };
    // Both at the same time, so that they share the machine's speed.
    const [alone, beside] = await Promise.all([secondsWith({}), secondsWith(endings(traps, 'failed:timeout'))]);
    // A second for unequal shares of the machine.
    expect(beside, 'seconds that the site in order took beside the tarpit').toBeLessThan(alone / 0.9 + 1);
    expect(tarpit.mostOpen).toBeLessThanOrEqual(4);
  });

  row(34, 'sites that are down, and names that do not exist', async (round) => {
    const ports = await Promise.all(Array.from({ length: 5 }, () => freePort()));
    const [port, ...others] = ports;
    // Hosts of one page each never reach five errors in a row, and fail when their attempts are used up.
    const down = others.map((each) => `http://127.0.0.1:${each}/`);
    const unknown = Array.from({ length: 4 }, (_, n) => `http://nobody-${n}.invalid/`);
    // A host of ten pages: its breaker opens for a minute, and the host is given up before.
    const many = Array.from({ length: 10 }, (_, n) => `http://127.0.0.1:${port}/${n}`);
    const trouble = {
      ...endings(down, 'failed:connection'),
      ...endings(unknown, 'failed:dns'),
      ...endings(many, 'failed:host_down'),
    };
    // With three attempts, none of the ten uses up its own before all have had one and the breaker is open.
    const crawl = await openCrawl(round, { trouble, flags: ['--host-give-up', '15s', '--max-attempts', '3'] });
    await crawl.begin();
    round.mended();
    await verdict(crawl);
    const attemptsAt = async (url: string): Promise<number> => await crawl.redis.llen(`${crawl.prefix}attempts:${url}`);
    for (const url of unknown) expect(await attemptsAt(url), `attempts at ${url}`).toBe(2);
    const tried = await Promise.all(many.map(attemptsAt));
    // Five, and those under way by then.
    expect(tried.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(5 + many.length);
  });

  for (const [form, retryAfter] of [
    ['seconds', () => '2'],
    ['a date', () => new Date(Date.now() + 3_000).toUTCString()],
  ] as const) {
    row(form === 'seconds' ? 35 : '35b', `a storm of 429 and 503 with Retry-After as ${form}`, async (round) => {
      const crawl = await openCrawl(round, { trouble: {}, pages: 150 });
      const said: number[] = [];
      let storms = 2;
      const from = Math.ceil(20 + 40 * round.random());
      for (let page = from; page < from + 40; page++) {
        crawl.site.on(`/page/${page}`, (_, response) => {
          const lastMs = performance.timeOrigin + performance.now() - (said.at(-1) ?? 0);
          if (storms > 0 && lastMs > 1_500) {
            storms--;
            said.push(performance.timeOrigin + performance.now());
            response.writeHead(storms === 0 ? 503 : 429, { 'retry-after': retryAfter() }).end();
          } else {
            response.setHeader('content-type', 'text/html').end('<title>in order</title>');
          }
        });
      }
      await crawl.begin();
      round.mended();
      await verdict(crawl);
      for (const at of said) {
        // One round trip later the whole host is quiet: requests are 20 ms apart, and those already granted still arrive.
        const late = crawl.site.requests.filter((request) => request.at > at + 300 && request.at < at + 1_800);
        expect(late.length, 'requests into the pause').toBe(0);
      }
      expect(mostWithin(said, 60_000)).toBe(2);
    });
  }
});
