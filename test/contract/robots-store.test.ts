import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { RedisRobotsStore } from '../../shared/stores/redis/cache/robots-store.ts';
import { LocalRobotsStore } from '../../shared/stores/sqlite/robots-store.ts';
import { openPrivateRedis } from '../support/servers/private-redis.ts';
import { SteppedClock } from '../support/stores/stepped-clock.ts';
import { describeRobotsStore, type OpenedRobotsStore } from './suites/robots-store.contract.ts';

describeRobotsStore('in memory', async () => {
  const clock = new SteppedClock();
  return { store: new LocalRobotsStore({ clock }), step: async (ms) => clock.step(ms), close: async () => {} };
});

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

async function openInRedis(): Promise<OpenedRobotsStore & { readonly prefix: string }> {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  return {
    prefix,
    store: new RedisRobotsStore({ redis, prefix }),
    // Redis expires keys by its own clock, so the stored keys are aged.
    step: async (ms) => {
      for (const key of await redis.keys(`${prefix}*`)) await redis.pexpire(key, (await redis.pttl(key)) - ms);
    },
    close: async () => {
      const keys = await redis.keys(`${prefix}*`);
      if (keys.length > 0) await redis.unlink(...keys);
    },
  };
}

/** Returns all keys except the one in which all scripts keep the time. */
async function keysOf(prefix: string): Promise<string[]> {
  return (await redis.keys(`${prefix}*`)).filter((key) => key !== `${prefix}clock`).toSorted();
}

describeRobotsStore('in Redis', openInRedis);

test('Redis: every key of the robots store expires, and a person can read it', async () => {
  const { store, prefix, close } = await openInRedis();
  onTestFinished(close);
  await store.fail('https://a.test');
  await store.lock('https://a.test', 60_000);
  await store.keepWay('https://a.test', { redirects: ['https://c.test/robots.txt'], waits: 1 });
  await store.keep('https://b.test', { allow: [], disallow: ['/private'], crawlDelayMs: 2_000 }, 60_000);
  const keys = await keysOf(prefix);
  expect(keys.map((key) => key.slice(prefix.length))).toEqual([
    'robots-failures:https://a.test',
    'robots-lock:https://a.test',
    'robots-way:https://a.test',
    'robots:https://b.test',
  ]);
  for (const key of keys) expect(await redis.pttl(key), key).toBeGreaterThan(0);
  expect(await redis.get(`${prefix}robots:https://b.test`)).toBe(
    '{"allow":[],"disallow":["/private"],"crawlDelayMs":2000}',
  );
});

test('Redis: large rules stay within their total limit, and those that expire first are dropped first', async () => {
  const { prefix, close } = await openInRedis();
  onTestFinished(close);
  const store = new RedisRobotsStore({ redis, prefix, mostLargeBytes: 50_000 });
  const rules = { allow: [], disallow: [`/${'x'.repeat(9_970)}`] };
  await store.keep('https://small.test', { allow: [], disallow: ['/'] }, 10_000);
  for (let n = 0; n < 4; n++) await store.keep('https://again.test', rules, 60_000);
  for (let n = 1; n <= 6; n++) await store.keep(`https://${n}.test`, rules, 60_000 + n * 1_000);
  const origins = ['small', 'again', 1, 2, 3, 4, 5, 6].map((name) => `https://${name}.test`);
  const found = await Promise.all(origins.map(async (origin) => (await store.find(origin)) !== undefined));
  expect(found).toEqual([true, false, false, true, true, true, true, true]);
  for (const key of await keysOf(prefix)) expect(await redis.pttl(key), key).toBeGreaterThan(0);
});

test.each(['no JSON', 'null', '[]', '{"allow":[1],"disallow":[]}', '{"allow":[]}'])(
  'Redis: the unreadable value %s counts as neither rules nor a request under way',
  async (value) => {
    const { store, prefix, close } = await openInRedis();
    onTestFinished(close);
    await redis.set(`${prefix}robots:https://a.test`, value, 'PX', 60_000);
    await redis.set(`${prefix}robots-way:https://a.test`, value, 'PX', 60_000);
    expect([await store.find('https://a.test'), await store.way('https://a.test')]).toEqual([undefined, undefined]);
  },
);

test('Redis: every call of the robots store rejects while the connection is closed', async () => {
  const gone = new Redis(inject('redisUrl'));
  const store = new RedisRobotsStore({ redis: gone, prefix: 't:' });
  gone.disconnect();
  for (const asking of [
    store.find('https://a.test'),
    store.lock('https://a.test', 1),
    store.keep('https://a.test', { allow: [], disallow: [] }, 1),
    store.fail('https://a.test'),
  ]) {
    await expect(asking).rejects.toThrow('closed');
  }
});

test('Redis: while it is full nothing is kept, and every asker gets the lock', async () => {
  const { redis: full } = await openPrivateRedis('--maxmemory', '1', '--maxmemory-policy', 'noeviction');
  const store = new RedisRobotsStore({ redis: full, prefix: '' });
  expect([await store.lock('https://a.test', 1_000), await store.lock('https://a.test', 1_000)]).toEqual([true, true]);
  await store.keep('https://a.test', { allow: [], disallow: ['/'] }, 1_000);
  expect([await store.find('https://a.test'), await store.fail('https://a.test')]).toEqual([undefined, 1]);
});
