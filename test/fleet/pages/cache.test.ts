import { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet, pagesFetched } from '../../support/processes/fleet.ts';
import { TcpProxy } from '../../support/proxies/tcp-proxy.ts';

test('responses are cached in the Redis of CACHE_REDIS_URL, and workers continue when it is gone', async () => {
  const { hostname, port } = new URL(inject('redisUrl'));
  const proxy = new TcpProxy({ host: hostname, port: Number(port || 6379) });
  await proxy.start();
  const other = new Redis(`${inject('redisUrl')}/8`);
  const { workplace, site, redis, keyPrefix } = await openFleet(
    { pages: 30 },
    { CACHE_REDIS_URL: `redis://127.0.0.1:${proxy.port}/8` },
  );
  onTestFinished(async () => {
    const keys = await other.keys(`${keyPrefix}*`);
    if (keys.length > 0) await other.unlink(...keys);
    other.disconnect();
    await proxy.stop();
  });
  const worker = workplace.start(['work', ...AT_FULL_SPEED]);
  await worker.says(/consuming/);
  const produce = async (...args: string[]) =>
    await workplace.json(['produce', site.url('/sitemap.xml'), '--fresh', '--wait', ...args, ...AT_FULL_SPEED]);
  expect(await produce()).toMatchObject({ done: 30 });
  // A page is settled in one Redis while the other one is still caching it.
  await expect.poll(() => other.keys(`${keyPrefix}content:*`)).toHaveLength(30);
  expect(await redis.keys(`${keyPrefix}content*`)).toEqual([]);
  const before = pagesFetched(site).length;
  expect(await produce()).toMatchObject({ done: 30 });
  expect(pagesFetched(site).length, 'pages fetched again').toBe(before);
  const place = `response cache: 127.0.0.1:${proxy.port}`;
  expect((await workplace.run(['doctor'])).stdout).toContain(`ok       ${place} answers\n`);
  proxy.close();
  await worker.says(/continuing without/);
  const { code, stdout } = await workplace.run(['doctor']);
  expect(stdout).toContain(`warning  ${place}: `);
  expect(stdout).toContain('. Workers continue without it. Check CACHE_REDIS_URL.\n');
  expect(code).toBe(0);
  expect(await produce(), 'without it').toMatchObject({ done: 30, failed: 0 });
  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});

test('only runs with --fresh cache their pages: other runs never fetch one again', async () => {
  const { workplace, site, redis, keyPrefix } = await openFleet({ pages: 30 });
  const worker = workplace.start(['work', ...AT_FULL_SPEED]);
  await worker.says(/consuming/);
  const produce = async (...args: string[]) =>
    await workplace.json(['produce', site.url('/sitemap.xml'), '--wait', ...args, ...AT_FULL_SPEED]);
  expect(await produce()).toMatchObject({ done: 30 });
  expect(await redis.keys(`${keyPrefix}content*`)).toEqual([]);
  expect(await produce('--fresh')).toMatchObject({ done: 30 });
  await expect.poll(() => redis.keys(`${keyPrefix}content:*`)).toHaveLength(30);
});
