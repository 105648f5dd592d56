import { connect } from 'amqplib';
import { describe, expect, inject, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { allPages, openFleet, pagesFetched } from '../support/processes/fleet.ts';

const IDENTITY = ['waiting', 'inFlight', 'done', 'skipped', 'failed', 'cancelled'];

// biome-ignore lint/suspicious/noExplicitAny: what a command printed
function holdsIdentity(summary: any): boolean {
  return IDENTITY.reduce((sum, name) => sum + summary[name], 0) === summary.discovered;
}

describe('a fleet over RabbitMQ and Redis', () => {
  test('three workers fetch every page of a sitemap once, and every record is stored', async () => {
    const { workplace, site } = await openFleet({ pages: 1_500 });
    const workers = [1, 2, 3].map(() => workplace.start(['work', '--exit-when-idle', ...AT_FULL_SPEED]));
    await Promise.all(workers.map((worker) => worker.says(/consuming/)));
    const summary = await workplace.json(['produce', site.url('/sitemap-index.xml.gz'), '--wait', ...AT_FULL_SPEED]);
    expect(summary).toMatchObject({
      state: 'finished',
      discovered: 1_500,
      done: 1_500,
      records: 1_500,
      failed: 0,
      duplicate: 0,
    });
    expect(holdsIdentity(summary)).toBe(true);
    expect(pagesFetched(site).toSorted()).toEqual(allPages(1_500).toSorted());
    const ended = await Promise.all(workers.map((worker) => worker.ended));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    const records = await workplace.records(summary.run);
    expect(new Set(records.map(({ url }) => url)).size).toBe(1_500);
    expect(new Set(records.map(({ worker }) => worker)).size).toBe(3);
    expect(records.find(({ url }) => url === site.url('/page/7'))).toMatchObject({
      outcome: 'done',
      status: 200,
      title: 'Page 7',
      contentType: 'text/html',
      attempt: 1,
      depth: 0,
      data: { links: [site.url('/page/8'), site.url('/page/9'), site.url('/page/10')] },
    });
  });

  test('a producer without workers puts its URLs into the two queues, routed and with their TTL', async () => {
    const { workplace, queuePrefix } = await openFleet();
    const hosts = ['a.test', 'b.test', 'news.c.test'];
    const urls = hosts.flatMap((host) => Array.from({ length: 100 }, (_, i) => `http://${host}/${i}`));
    const told = await workplace.json(['produce', '-'], urls.join('\n'));
    expect(told).toMatchObject({
      state: 'running',
      discovered: 300,
      duplicate: 0,
      malformed: 0,
      waiting: 0,
      inFlight: 300,
    });
    expect(told).toMatchObject({ workers: 0, workerCommand: 'trawl work' });
    const connection = await connect(inject('rabbitmqUrl'));
    const channel = await connection.createChannel();
    const [normal, priority] = [
      await channel.checkQueue(`${queuePrefix}url_queue_ttl`),
      await channel.checkQueue(`${queuePrefix}priority_queue`),
    ];
    expect([normal.messageCount, priority.messageCount]).toEqual([200, 100]);
    const urgent = await channel.get(`${queuePrefix}priority_queue`);
    if (urgent === false) throw new Error('expected a message');
    expect(Number(urgent.properties.expiration)).toBeGreaterThan(25 * 60_000);
    expect(Number(urgent.properties.expiration)).toBeLessThanOrEqual(30 * 60_000);
    expect(JSON.parse(urgent.content.toString())).toMatchObject({ v: 1, run: told.run, queue: 'priority' });
    expect(urgent.properties.messageId).toMatch(new RegExp(`^${told.run}:[0-9a-f]{32}$`));
    expect(urgent.properties.headers).toMatchObject({ 'x-attempt': 1, 'x-release': expect.any(Number) });
    await connection.close();
  });

  test('a second run of the same sitemap reports nothing new, and --fresh crawls it again', async () => {
    const { workplace, site } = await openFleet({ pages: 60 });
    const sitemap = site.url('/sitemap.xml');
    const worker = workplace.start(['work', ...AT_FULL_SPEED]);
    const first = await workplace.json(['produce', sitemap, '--wait', ...AT_FULL_SPEED]);
    expect(first).toMatchObject({ discovered: 60, done: 60 });
    const again = await workplace.run(['produce', sitemap, '--wait', ...AT_FULL_SPEED]);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('60 known, nothing new; --fresh crawls them again');
    const plain = await workplace.run(['produce', sitemap, ...AT_FULL_SPEED]);
    expect(plain.stdout).toContain('60 known, nothing new; --fresh crawls them again');
    const fresh = await workplace.json(['produce', sitemap, '--fresh', '--wait', ...AT_FULL_SPEED]);
    expect(fresh).toMatchObject({ discovered: 60, done: 60, duplicate: 0 });
    worker.signal('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('--run adds seeds to an existing run', async () => {
    const { workplace, site } = await openFleet({ pages: 40 });
    const flags = ['--run', 'joint', ...AT_FULL_SPEED];
    await workplace.json(['produce', site.url('/page/1'), ...flags]);
    const joined = await workplace.json(['produce', site.url('/sitemap.xml'), ...flags]);
    expect(joined).toMatchObject({ run: 'joint', discovered: 40, duplicate: 1 });
  });

  test('malformed URLs are counted and dead-lettered with their reason, and are duplicates the second time', async () => {
    const { workplace } = await openFleet();
    const list = 'example.com/no-scheme\nhtp://x\n\n# a comment\nhttp://\n';
    const told = await workplace.json(['produce', '-'], list);
    expect(told).toMatchObject({ discovered: 3, malformed: 3, waiting: 0, inFlight: 0 });
    const status = await workplace.json(['status', told.run]);
    expect(status).toMatchObject({ state: 'finished', failed: 3, reasons: { failed: { malformed: 3 } } });
    const letters = await workplace.json(['dlq', 'list', '--reason', 'malformed']);
    expect(letters.map(({ url, error }: { url: string; error: string }) => [url, error]).toSorted()).toEqual([
      ['example.com/no-scheme', 'it has no scheme'],
      ['htp://x', 'its scheme is htp, not http or https'],
      ['http://', 'it is not a valid URL'],
    ]);
    // No worker was running: the producer that dead-lettered them recorded them.
    const records = await workplace.records(told.run, '--failed');
    expect(records.map(({ url, reason }) => [url, reason]).toSorted()).toEqual([
      ['example.com/no-scheme', 'malformed'],
      ['htp://x', 'malformed'],
      ['http://', 'malformed'],
    ]);
    expect(await workplace.json(['produce', '-'], list)).toMatchObject({ discovered: 0, duplicate: 3 });
  });

  test('failures are retried, dead-lettered with every attempt, and listed in the failure records', async () => {
    const { workplace, site, redis, keyPrefix } = await openFleet();
    const urls = ['/page/1', '/status/404', '/status/500', '/flaky/a/1', '/type?ct=image/png', '/redirect/2'].map(
      (path) => site.url(path),
    );
    const worker = workplace.start(['work', ...AT_FULL_SPEED]);
    const summary = await workplace.json(['produce', '-', '--wait', ...AT_FULL_SPEED], urls.join('\n'));
    expect(summary).toMatchObject({
      discovered: 6,
      done: 2,
      skipped: 2,
      failed: 2,
      reasons: { failed: { http_4xx: 1, http_5xx: 1 }, skipped: { content_type: 1, duplicate: 1 } },
    });
    expect([site.count('/status/404'), site.count('/status/500'), site.count('/flaky/a/1')]).toEqual([1, 3, 2]);
    const [letter] = await workplace
      .json(['dlq', 'show', site.url('/status/500')].slice(0, 3))
      .then((found) => [found].flat());
    expect(letter).toMatchObject({ run: summary.run, reason: 'http_5xx', status: 500, depth: 0, queue: 'normal' });
    expect(letter.attempts.map(({ reason, status }: { reason: string; status: number }) => [reason, status])).toEqual(
      Array(3).fill(['http_5xx', 500]),
    );
    expect(
      (await workplace.records(summary.run, '--failed')).map(({ url, reason }) => [url, reason]).toSorted(),
    ).toEqual([
      [site.url('/status/404'), 'http_4xx'],
      [site.url('/status/500'), 'http_5xx'],
    ]);
    expect(await redis.get(`${keyPrefix}failures:${site.url('/status/500')}`)).toBe('3');
    expect(await redis.exists(`${keyPrefix}failures:${site.url('/flaky/a/1')}`)).toBe(0);
    worker.signal('SIGTERM');
    await worker.ended;
  });

  test('of messages from other programs, a seed is crawled and an unreadable one is dead-lettered', async () => {
    const { workplace, site, queuePrefix } = await openFleet();
    const worker = workplace.start(['work', ...AT_FULL_SPEED]);
    await worker.says(/consuming/);
    const connection = await connect(inject('rabbitmqUrl'));
    const channel = await connection.createConfirmChannel();
    const raw = Buffer.from([0x7b, 0xff, 0x00]);
    channel.publish(`${queuePrefix}crawl`, 'normal', raw, { persistent: true });
    channel.publish(`${queuePrefix}crawl`, 'priority', Buffer.from(JSON.stringify({ url: site.url('/page/3') })));
    await channel.waitForConfirms();
    await connection.close();
    await expect
      .poll(async () => (await workplace.json(['status'])).runs, { interval: 300 })
      .toMatchObject([{ run: 'amqp', state: 'finished', done: 1 }]);
    expect(pagesFetched(site)).toEqual(['/page/3']);
    const letters = await workplace.json(['dlq', 'list']);
    expect(letters).toMatchObject([{ reason: 'malformed', error: 'malformed: the body is not JSON' }]);
    worker.signal('SIGTERM');
    await worker.ended;
  });

  test('a stopped worker finishes the pages in hand and gives back the rest, and another worker ends the run', async () => {
    const { workplace, site } = await openFleet({ pages: 400 });
    const paced = [...AT_FULL_SPEED, '--worker-concurrency', '4'];
    for (let n = 1; n <= 400; n++) {
      site.on(`/page/${n}`, (_, response) => void setTimeout(() => response.end('<title>slow</title>'), 20));
    }
    const first = workplace.start(['work', ...paced]);
    await first.says(/consuming/);
    const run = workplace.json(['produce', site.url('/sitemap.xml'), '--wait', ...AT_FULL_SPEED]);
    await site.arrival('/page/20');
    first.signal('SIGTERM');
    expect((await first.ended).code).toBe(0);
    workplace.start(['work', ...paced]);
    expect(await run).toMatchObject({ discovered: 400, done: 400, failed: 0 });
    expect(pagesFetched(site).length).toBe(400);
  });
});
