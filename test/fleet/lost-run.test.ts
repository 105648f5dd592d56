import type { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { openFleet } from '../support/processes/fleet.ts';
import { TcpProxy } from '../support/proxies/tcp-proxy.ts';

/** A fleet whose connection to Redis can be cut, while the test itself connects directly. */
async function openCutFleet(pages: number) {
  const { hostname, port } = new URL(inject('redisUrl'));
  const proxy = new TcpProxy({ host: hostname, port: Number(port) });
  await proxy.start();
  onTestFinished(() => proxy.stop());
  const fleet = await openFleet({ pages }, { REDIS_URL: proxy.inFrontOf(inject('redisUrl')) });
  return { ...fleet, proxy };
}

async function wipe(redis: Redis, prefix: string): Promise<void> {
  const keys = await redis.keys(`${prefix}*`);
  if (keys.length > 0) await redis.unlink(...keys);
}

test('if Redis comes back empty while a producer waits, the run ends as unknown, with advice, and is not recreated', async () => {
  const { workplace, site, redis, keyPrefix, proxy } = await openCutFleet(40);
  for (let n = 1; n <= 40; n++) {
    site.on(`/page/${n}`, (_, response) => void setTimeout(() => response.end('<title>slow</title>'), 250));
  }
  const worker = workplace.start(['work', '--worker-concurrency', '1', ...AT_FULL_SPEED]);
  await worker.says(/consuming/);
  const producer = workplace.start([
    ...['produce', site.url('/sitemap.xml'), '--run', 'mine', '--wait', '--json'],
    ...AT_FULL_SPEED,
  ]);
  await site.arrival('/page/20');
  proxy.close();
  await producer.says(/connection lost/);
  await wipe(redis, keyPrefix);
  proxy.open();
  const { code, stdout, stderr } = await producer.ended;
  expect(stderr).toContain('the store has lost the run mine');
  expect(stderr).toContain('trawl produce --run mine');
  expect([code, JSON.parse(stdout)]).toEqual([1, { run: 'mine', state: 'unknown' }]);
  expect(await redis.exists(`${keyPrefix}run:mine`)).toBe(0);
  const status = await workplace.run(['status', 'mine']);
  expect(status.code).toBe(1);
  expect(status.stderr).toMatch(
    /run mine is no longer known to this Redis; its records are still in .*mine\. If Redis has lost its data, .* produce --run mine …/,
  );
});

test('if Redis is away for a moment and keeps its data, the run continues and its waiting producer ends with it', async () => {
  const { workplace, site, proxy } = await openCutFleet(20);
  for (let n = 1; n <= 20; n++) {
    site.on(`/page/${n}`, (_, response) => void setTimeout(() => response.end('<title>slow</title>'), 100));
  }
  workplace.start(['work', '--worker-concurrency', '1', ...AT_FULL_SPEED]);
  const producer = workplace.start([
    ...['produce', site.url('/sitemap.xml'), '--run', 'mine', '--wait', '--json'],
    ...AT_FULL_SPEED,
  ]);
  await site.arrival('/page/5');
  proxy.close();
  await producer.says(/connection lost/);
  proxy.open();
  const { code, stdout } = await producer.ended;
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { state: 'finished', discovered: 20, done: 20, duplicate: 0 }]);
});
