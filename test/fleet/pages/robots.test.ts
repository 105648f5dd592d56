import { describe, expect, onTestFinished, test } from 'vitest';
import { allPages, openFleet, pagesFetched } from '../../support/processes/fleet.ts';
import { TestSite } from '../../support/site.ts';

/** The usual flags of a fleet, without `--robots ignore`. */
const FLAGS = ['--private-hosts', '127.0.0.0/8', '--cache-ttl', 'none', '--rate', '6000/min'];

const DELAY_MS = 700;
/** The longest delay of a request between the gate and the origin's log, on a busy machine. */
const SLACK_MS = 350;

describe('robots.txt', () => {
  test('is fetched once by four workers, which skip the forbidden pages', async () => {
    const { workplace, site, redis, keyPrefix } = await openFleet({ pages: 60 });
    site.robots = `User-agent: *\nDisallow: /page/1\nAllow: /page/10$\nSitemap: ${site.url('/sitemap.xml')}\n`;
    for (let i = 0; i < 4; i++) workplace.start(['work', ...FLAGS]);
    const summary = await workplace.json(['produce', site.url('/sitemap.xml'), '--wait', ...FLAGS]);
    // /page/1 and /page/11 to /page/19.
    expect(summary).toMatchObject({ state: 'finished', discovered: 60, done: 50, skipped: 10, failed: 0 });
    expect(summary.reasons).toEqual({ failed: {}, skipped: { robots: 10 } });
    expect(pagesFetched(site).filter((path) => /^\/page\/1(?!0$)\d?$/.test(path))).toEqual([]);
    expect(site.count('/robots.txt')).toBe(1);
    const kept = await redis.get(`${keyPrefix}robots:${site.origin}`);
    expect(JSON.parse(kept ?? '')).toEqual({ allow: ['/page/10$'], disallow: ['/page/1'] });
    expect(await redis.pttl(`${keyPrefix}robots:${site.origin}`)).toBeGreaterThan(23 * 3_600_000);
    const records = await workplace.records(summary.run);
    expect(records.length).toBe(50);
  });

  test('with a Crawl-delay spaces the requests of all workers together, and slows no other host', async () => {
    const { workplace, site } = await openFleet({ pages: 6 });
    const other = new TestSite({ pages: 40 });
    await other.start();
    onTestFinished(() => other.stop());
    site.robots = 'User-agent: TrawlBot\nCrawl-delay: 0.7\n';
    for (let i = 0; i < 3; i++) workplace.start(['work', ...FLAGS]);
    const pages = [...allPages(6).map((path) => site.url(path)), ...allPages(40).map((path) => other.url(path))];
    const summary = await workplace.json(['produce', '-', '--wait', ...FLAGS], pages.join('\n'));
    expect(summary).toMatchObject({ done: 46, failed: 0 });
    const starts = site.requests.map(({ at }) => at);
    expect(starts.length, 'the file and six pages').toBe(7);
    // A late request makes the next gap look short, so each span covers two gaps, in which no delay is lost.
    const spans = starts.slice(2).map((at, index) => at - (starts[index] ?? 0));
    expect(Math.min(...spans)).toBeGreaterThan(2 * DELAY_MS - SLACK_MS);
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(6 * DELAY_MS - SLACK_MS);
    expect(other.requests.at(-1)?.at, 'long done by then').toBeLessThan(starts.at(-1) ?? 0);
  });

  test('answered with 503 pauses the host with that reason, and its pages are fetched later at no attempt', async () => {
    const { workplace, site } = await openFleet({ pages: 10 });
    site.on('/robots.txt', (_, response) => response.writeHead(503, { 'retry-after': '600' }).end());
    for (let i = 0; i < 2; i++) workplace.start(['work', ...FLAGS]);
    const producing = workplace.start(['produce', site.url('/sitemap.xml'), '--run', 'mine', '--wait', ...FLAGS]);
    await site.arrival('/robots.txt');
    const tell = async (): Promise<string> => (await workplace.run(['url', site.url('/page/1')])).stdout;
    await expect.poll(tell).toContain('robots.txt: HTTP 503, Retry-After');
    site.on('/robots.txt', (_, response) => response.writeHead(404).end());
    await workplace.run(['resume', '--host', site.host]);
    expect((await producing.ended).code).toBe(0);
    expect(await workplace.json(['status', 'mine'])).toMatchObject({ done: 10, failed: 0, skipped: 0 });
    expect(site.count('/robots.txt'), 'once while it was away, once for all').toBe(2);
    const records = await workplace.records('mine');
    expect(records.map(({ attempt }) => attempt)).toEqual(Array(10).fill(1));
  });

  test('that never answers well fails the pages of its host with host_down', async () => {
    const { workplace, site } = await openFleet({ pages: 5 });
    site.on('/robots.txt', (_, response) => response.writeHead(503, { 'retry-after': '1' }).end());
    workplace.start(['work', ...FLAGS, '--host-give-up', '3s']);
    const produce = ['produce', site.url('/sitemap.xml'), '--wait', '--json', '--host-give-up', '3s', ...FLAGS];
    const { code, stdout } = await workplace.run(produce);
    const summary = JSON.parse(stdout);
    expect(code, 'nothing was fetched').toBe(1);
    expect(summary).toMatchObject({ state: 'finished', done: 0, failed: 5, reasons: { failed: { host_down: 5 } } });
    expect(pagesFetched(site)).toEqual([]);
  });

  test('is obeyed by a crawl in one process, for links too, unless --robots ignore is given', async () => {
    const { workplace, site } = await openFleet({ pages: 8, linksPerPage: 7 });
    site.robots = 'User-agent: *\nDisallow: /page/3\n';
    const crawl = ['crawl', site.url('/page/1'), '--follow', ...FLAGS];
    expect(await workplace.json(crawl)).toMatchObject({ done: 7, skipped: 1, reasons: { skipped: { robots: 1 } } });
    expect(site.count('/page/3')).toBe(0);
    expect(await workplace.json([...crawl, '--robots', 'ignore'])).toMatchObject({ done: 8, skipped: 0 });
    expect(site.count('/robots.txt')).toBe(1);
  });
});
