import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { KEPT_MS } from '../../services/producer/recent-offers.ts';
import type { Trawl } from '../support/processes/trawl.ts';
import { TcpProxy } from '../support/proxies/tcp-proxy.ts';
import { type Crawl, type CrawlOptions, openCrawl, RUN, WORKERS } from './harness/crawl.ts';
import { inForm } from './harness/form.ts';
import { now, type Round, row } from './harness/row.ts';
import { ownServers } from './harness/servers.ts';
import { passes, until } from './harness/until.ts';
import { verdict } from './harness/verdict.ts';

const servers = ownServers('redis');

/** Starts a crawl at a request every 40 ms, so that slots granted too soon would show. */
async function begin(round: Round, options: CrawlOptions = {}): Promise<Crawl> {
  const crawl = await openCrawl(round, { redisUrl: servers().redis.url, perMinute: 1_500, ...options });
  await crawl.begin();
  await crawl.someMoment();
  return crawl;
}

/** Starts another producer, and resolves with it a while after it and all workers have noticed. */
async function whileNothingIsWritten(crawl: Crawl, answer: RegExp): Promise<Trawl> {
  const late = crawl.workplace.start(['produce', '-', '--run', 'late', ...crawl.produceFlags], 'http://[::1]:1/never');
  const all = [late, ...crawl.workers.map(({ trawl }) => trawl)];
  await Promise.all(all.map((trawl) => trawl.says(answer)));
  await passes(inForm(60_000, 5_000));
  return late;
}

describe('Redis breaks', () => {
  row(28, 'Redis is killed, and starts again on its data', async (round) => {
    const crawl = await begin(round);
    await servers().redis.kill();
    await servers().redis.start();
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row('28b', 'Redis is restarted cleanly', async (round) => {
    const crawl = await begin(round);
    await servers().redis.stop();
    await servers().redis.start();
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row(29, 'Redis is wiped in the middle of a crawl', async (round) => {
    const crawl = await begin(round);
    await servers().redis.command('FLUSHALL');
    round.mended();
    const ended = await crawl.producer?.ended;
    expect(ended?.code).toBe(1);
    expect(ended?.stderr).toContain(`the store has lost the run ${RUN}`);
    const status = await crawl.workplace.run(['status', RUN]);
    expect([status.code, status.stderr]).toEqual([1, expect.stringContaining(`run ${RUN} is no longer known`)]);
    // The next pass finds every URL again, without any repair by hand.
    crawl.produce();
    // The granted slots are lost, too: those that workers hold, for 2 s at most, can coincide with new ones.
    await verdict(crawl, { faults: 100, lapses: true, hostSlack: WORKERS * 8 });
  });

  row('29b', 'Redis restarts empty in the middle of a crawl', async (round) => {
    const crawl = await begin(round);
    // A younger run would be restored by its producer. It was created before its first request.
    const [first] = crawl.site.requests;
    await until('the run is too old to be restored', () => first !== undefined && now() - first.at > KEPT_MS);
    await servers().redis.command('FLUSHALL');
    await servers().redis.kill();
    await servers().redis.start();
    round.mended();
    const ended = await crawl.producer?.ended;
    expect([ended?.code, JSON.parse(ended?.stdout ?? '')]).toEqual([1, { run: RUN, state: 'unknown' }]);
    expect(ended?.stderr).toContain(`the store has lost the run ${RUN}`);
    expect(await crawl.progress(), 'it is not made anew').toBeUndefined();
    crawl.produce();
    await verdict(crawl, { faults: 100, lapses: true, hostSlack: WORKERS * 8 });
  });

  row(30, 'Redis turns read-only, and becomes a master again', async (round) => {
    const crawl = await begin(round);
    await servers().redis.command('REPLICAOF', '127.0.0.1', '1');
    await until('the workers notice', () => crawl.workers.every(({ trawl }) => /READONLY|Redis/.test(trawl.said)));
    await servers().redis.command('REPLICAOF', 'NO', 'ONE');
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row('30b', 'Redis refuses writes because its disk takes none, and accepts them again', async (round) => {
    const crawl = await begin(round);
    const { redis } = servers();
    const [, dir = ''] = (await redis.command('CONFIG', 'GET', 'dir')) as string[];
    const inTheWay = join(dir, 'dump.rdb');
    await mkdir(inTheWay);
    await redis.command('CONFIG', 'SET', 'save', '3600 1');
    await redis.command('BGSAVE');
    const late = await whileNothingIsWritten(crawl, /MISCONF/);
    await rmdir(inTheWay);
    await redis.command('BGSAVE');
    round.mended();
    expect((await late.ended).code, 'a producer waits for that, too').toBe(0);
    await verdict(crawl, { lapses: true });
  });

  row('30c', 'Redis refuses writes because it lacks replicas, and accepts them again', async (round) => {
    const crawl = await begin(round);
    await servers().redis.command('CONFIG', 'SET', 'min-replicas-to-write', '1');
    const late = await whileNothingIsWritten(crawl, /NOREPLICAS/);
    await servers().redis.command('CONFIG', 'SET', 'min-replicas-to-write', '0');
    round.mended();
    expect((await late.ended).code, 'a producer waits for that, too').toBe(0);
    await verdict(crawl, { lapses: true });
  });

  row('30d', 'the Redis user of the fleet loses a right, and gets it back', async (round) => {
    const { redis } = servers();
    const user = 'narrowed';
    await redis.command('ACL', 'SETUSER', user, 'on', '>secret', '~*', '+@all');
    onTestFinished(async () => void (await redis.command('ACL', 'DELUSER', user)));
    const crawl = await begin(round, { redisUrl: redis.url.replace('://', `://${user}:secret@`) });
    await redis.command('ACL', 'SETUSER', user, '-hincrby');
    await Promise.all(crawl.workers.map(({ trawl }) => trawl.says(/: HINCRBY\. Grant it: redis-cli ACL SETUSER/)));
    await redis.command('ACL', 'SETUSER', user, '+hincrby');
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row(31, 'Redis is full, and has room again', async (round) => {
    const crawl = await begin(round, { pages: 400, perMinute: 6_000 });
    const { workplace } = crawl;
    await servers().redis.command('CONFIG', 'SET', 'maxmemory', '1mb');
    const flags = ['--run', 'late', '--wait', '--json', ...crawl.produceFlags];
    const late = workplace.start(['produce', '-', ...flags], 'http://[::1]:1/never');
    try {
      await until('a run begins', async () => (await workplace.run(['status', 'late'])).code === 0);
      await crawl.reaches(0.9);
      expect(await workplace.json(['status', 'late']), 'its producer waits for room').toMatchObject({
        state: 'running',
        discovered: 0,
        producers: { open: 1 },
      });
    } finally {
      await servers().redis.command('CONFIG', 'SET', 'maxmemory', '0');
    }
    round.mended();
    expect(JSON.parse((await late.ended).stdout)).toMatchObject({ state: 'finished', discovered: 1, skipped: 1 });
    await verdict(crawl);
    expect(crawl.said, 'who lives is heard, even so').not.toContain('the beat could not be sent');
  });

  row('31b', 'Redis may evict keys, and workers refuse to start', async (round) => {
    const crawl = await openCrawl(round, { redisUrl: servers().redis.url });
    await servers().redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    try {
      const { code, stderr } = await crawl.startWorker().trawl.ended;
      expect([code, stderr]).toEqual([78, expect.stringContaining('config set maxmemory-policy noeviction')]);
    } finally {
      await servers().redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    }
  });

  row(32, 'Redis does not answer for a while', async (round) => {
    const crawl = await begin(round);
    const ms = inForm(10_000, 10_000);
    await servers().redis.command('CLIENT', 'PAUSE', String(ms), 'ALL');
    await until(
      'Redis answers again',
      () =>
        servers()
          .redis.command('PING')
          .then(() => true),
      { withinMs: ms + 10_000 },
    );
    round.mended();
    await verdict(crawl);
  });

  row('32b', 'the network holds back all traffic with Redis, and then delivers it', async (round) => {
    const proxy = new TcpProxy({ host: '127.0.0.1', port: servers().redis.port });
    await proxy.start();
    onTestFinished(() => proxy.stop());
    const direct = { redisUrl: servers().redis.url };
    const crawl = await begin(round, { redisUrl: proxy.inFrontOf(servers().redis.url), direct });
    proxy.weather = { blackhole: true };
    await until('the workers notice', () => crawl.workers.every(({ trawl }) => trawl.said.includes('no answer for')));
    proxy.weather = {};
    round.mended();
    await verdict(crawl, { lapses: true });
  });

  row('32c', 'Redis is busy with a script of another client, until that is killed', async (round) => {
    const { redis } = servers();
    const crawl = await begin(round);
    await redis.command('CONFIG', 'SET', 'busy-reply-threshold', '500');
    const script = redis.command('EVAL', 'while true do end', '0').catch((error: unknown) => error);
    const late = await whileNothingIsWritten(crawl, /SCRIPT KILL/);
    await redis.command('SCRIPT', 'KILL');
    round.mended();
    expect(String(await script)).toContain('Script killed by user');
    expect((await late.ended).code, 'a producer waits for that, too').toBe(0);
    await verdict(crawl, { lapses: true });
  });
});
