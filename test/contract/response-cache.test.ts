import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { connectCacheRedis, openCacheRedis, tryCacheRedis } from '../../shared/stores/redis/cache/cache-connection.ts';
import { RedisResponseCache } from '../../shared/stores/redis/cache/response-cache.ts';
import { RedisMemory } from '../../shared/stores/redis/memory-watch.ts';
import { LocalResponseCache } from '../../shared/stores/sqlite/response-cache.ts';
import { TcpProxy } from '../support/proxies/tcp-proxy.ts';
import { openPrivateRedis } from '../support/servers/private-redis.ts';
import { SteppedClock } from '../support/stores/stepped-clock.ts';
import { describeResponseCache, type OpenCache, type OpenedCache } from './suites/response-cache.contract.ts';

const PAGE = { finalUrl: 'http://a.test/', status: 200, headers: {}, body: new Uint8Array(10), durationMs: 1 };

describeResponseCache(
  'in memory',
  async (limits) => {
    const clock = new SteppedClock();
    const cache = new LocalResponseCache({ clock, ...limits });
    return { cache, step: async (ms) => clock.step(ms), close: async () => {} };
  },
  { whenFull: 'oldest goes' },
);

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

function uniquePrefix(): string {
  return `t${randomBytes(6).toString('hex')}:`;
}

/** Ages all keys in one command, since the short time-out of a cache connection leaves no time for one command per key. */
const AGE = `
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  redis.call('PEXPIRE', key, redis.call('PTTL', key) - tonumber(ARGV[2]))
end`;

async function openIn(redis: Redis, { ttlMs, maxBytes }: Parameters<OpenCache>[0]): Promise<OpenedCache> {
  const prefix = uniquePrefix();
  const clock = new SteppedClock();
  const keys = (): Promise<string[]> => redis.keys(`${prefix}content:*`);
  return {
    cache: new RedisResponseCache({ redis, prefix, ttlMs, maxBytesPerMinute: maxBytes, clock }),
    // Redis expires keys by its own clock, so the stored keys are aged.
    step: async (ms) => {
      clock.step(ms);
      await redis.eval(AGE, 0, `${prefix}content:*`, ms);
    },
    close: async () => void (await redis.unlink(`${prefix}content-budget`, ...(await keys()))),
  };
}

describeResponseCache('in Redis', (limits) => openIn(redis, limits), { whenFull: 'left alone' });

const QUIET = { lost: () => {}, restored: () => {} };

describeResponseCache(
  'in a Redis of its own',
  async (limits) => {
    const own = openCacheRedis(`${inject('redisUrl')}/7`, 'trawl test', QUIET);
    await own.connect();
    const opened = await openIn(own, limits);
    const close = () => opened.close().finally(() => own.disconnect());
    return { ...opened, close };
  },
  { whenFull: 'left alone' },
);

describe('a Redis of its own', () => {
  async function setup() {
    const { hostname, port } = new URL(inject('redisUrl'));
    const proxy = new TcpProxy({ host: hostname, port: Number(port || 6379) });
    await proxy.start();
    const told: string[] = [];
    const own = openCacheRedis(`redis://127.0.0.1:${proxy.port}/7`, 'trawl test', {
      lost: () => told.push('lost'),
      restored: () => told.push('restored'),
    });
    const cache = new RedisResponseCache({ redis: own, prefix: uniquePrefix(), ttlMs: 60_000, maxBytesPerMinute: 1e6 });
    onTestFinished(async () => {
      own.disconnect();
      await proxy.stop();
    });
    const keeps = async (): Promise<boolean> => {
      await cache.set('u', PAGE);
      return (await cache.get('u')) !== undefined;
    };
    return { proxy, cache, told, keeps };
  }

  test('the first use connects; while Redis is unreachable everything is a miss at once, until it is back', async () => {
    const { proxy, cache, told, keeps } = await setup();
    await expect.poll(keeps).toBe(true);
    proxy.close();
    await expect.poll(() => told).toEqual(['lost']);
    const began = performance.now();
    for (let n = 0; n < 100; n++) expect(await cache.get('u')).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(500);
    proxy.open();
    await expect.poll(keeps).toBe(true);
    expect(told).toEqual(['lost', 'restored']);
  });

  test('a Redis that hangs is a miss after half a second, and at once from then on', async () => {
    const { proxy, cache, keeps } = await setup();
    await expect.poll(keeps).toBe(true);
    proxy.weather = { blackhole: true };
    const began = performance.now();
    expect(await cache.get('u')).toBeUndefined();
    for (let n = 0; n < 100; n++) expect(await cache.get('u')).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(1_500);
  });
});

test('a Redis without the requested database caches nothing, not in another database either', async () => {
  const url = `${inject('redisUrl')}/99999`;
  await expect(tryCacheRedis(url, 'trawl test')).rejects.toThrow('DB index is out of range');
  const told: string[] = [];
  const own = openCacheRedis(url, 'trawl test', { ...QUIET, lost: (reason) => told.push(reason) });
  onTestFinished(() => own.disconnect());
  const prefix = uniquePrefix();
  const cache = new RedisResponseCache({ redis: own, prefix, ttlMs: 60_000, maxBytesPerMinute: 1e6 });
  await connectCacheRedis(own);
  for (let n = 0; n < 20; n++) await cache.set('u', PAGE);
  expect(await redis.keys(`${prefix}*`)).toEqual([]);
  expect(told).toEqual(['ERR DB index is out of range']);
});

test('a Redis shared with other data caches nothing while it is filling up', async () => {
  const { redis } = await openPrivateRedis('--maxmemory', '32mb');
  const limits = { prefix: '', ttlMs: 600_000, maxBytesPerMinute: 1e9 };
  const cache = new RedisResponseCache({ redis, memory: new RedisMemory(redis), ...limits });
  const keeps = async (key: string): Promise<boolean> => {
    await cache.set(key, PAGE);
    return (await cache.get(key)) !== undefined;
  };
  await redis.setrange('other', 12_000_000, '.');
  expect(await keeps('a'), 'less than half full').toBe(true);
  await redis.setrange('more', 10_000_000, '.');
  await expect.poll(() => keeps(randomBytes(6).toString('hex'))).toBe(false);
  await redis.del('other');
  await expect.poll(() => keeps('b')).toBe(true);
});

test('a Redis Cluster is refused as a cache', async () => {
  const { url } = await openPrivateRedis('--cluster-enabled', 'yes');
  await expect(tryCacheRedis(url, 'trawl test')).rejects.toThrow('Redis Cluster is not supported');
});

test('Redis: a closed connection is a miss and caches nothing, without an error', async () => {
  const gone = new Redis(inject('redisUrl'));
  const cache = new RedisResponseCache({ redis: gone, prefix: uniquePrefix(), ttlMs: 60_000, maxBytesPerMinute: 1e6 });
  gone.disconnect();
  await cache.set('http://a.test/', PAGE);
  expect(await cache.get('http://a.test/')).toBeUndefined();
});

test.each([
  ['of another type', (key: string) => redis.rpush(key, 'a', 'list')],
  ['of arbitrary text', (key: string) => redis.set(key, 'no page\n')],
  ['of one line', (key: string) => redis.set(key, '{"status":200}')],
  ['without a URL', (key: string) => redis.set(key, '{"status":200,"headers":{},"durationMs":1}\nbody')],
  ['whose head is null', (key: string) => redis.set(key, 'null\nbody')],
  [
    'with headers that are not texts',
    (key: string) =>
      redis.set(key, '{"finalUrl":"http://a.test/","status":200,"headers":{"etag":1},"durationMs":1}\nbody'),
  ],
  [
    'with a duration that is not a number',
    (key: string) => redis.set(key, '{"finalUrl":"http://a.test/","status":200,"headers":{},"durationMs":"1"}\nbody'),
  ],
])('Redis: a value %s under its key is a miss', async (_, put) => {
  const prefix = uniquePrefix();
  onTestFinished(async () => void (await redis.unlink(`${prefix}content:u`, `${prefix}content-budget`)));
  const cache = new RedisResponseCache({ redis, prefix, ttlMs: 60_000, maxBytesPerMinute: 1e6 });
  await put(`${prefix}content:u`);
  expect(await cache.get('u')).toBeUndefined();
  await cache.set('u', PAGE);
  expect(await cache.get('u')).toMatchObject({ status: 200 });
});
