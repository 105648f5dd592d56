import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { MemoryRobotsStore } from '../../shared/robots-stores/memory.ts';
import { RedisRobotsStore } from '../../shared/robots-stores/redis.ts';
import { openPrivateRedis } from '../support/servers/private-redis.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { describeRobotsStore, type OpenedRobotsStore } from './robots-store.contract.ts';

describeRobotsStore('in memory', async () => {
  const clock = new SteppedClock();
  return { store: new MemoryRobotsStore({ clock }), step: async (ms) => clock.step(ms), close: async () => {} };
});

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

async function openInRedis(): Promise<OpenedRobotsStore & { readonly prefix: string }> {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  return {
    prefix,
    store: new RedisRobotsStore({ redis, prefix }),
    // Expiry is Redis' own: what lies there is aged.
    step: async (ms) => {
      for (const key of await redis.keys(`${prefix}*`)) await redis.pexpire(key, (await redis.pttl(key)) - ms);
    },
    close: async () => {
      const keys = await redis.keys(`${prefix}*`);
      if (keys.length > 0) await redis.unlink(...keys);
    },
  };
}

describeRobotsStore('in Redis', openInRedis);

test('Redis: all it keeps expires, and a person can read it', async () => {
  const { store, prefix, close } = await openInRedis();
  onTestFinished(close);
  await store.fail('https://a.test');
  await store.claim('https://a.test', 60_000);
  await store.keep('https://b.test', { allow: [], disallow: ['/private'], crawlDelayMs: 2_000 }, 60_000);
  const keys = (await redis.keys(`${prefix}*`)).toSorted();
  expect(keys.map((key) => key.slice(prefix.length))).toEqual([
    'robots-claim:https://a.test',
    'robots-failures:https://a.test',
    'robots:https://b.test',
  ]);
  for (const key of keys) expect(await redis.pttl(key), key).toBeGreaterThan(0);
  expect(await redis.get(`${prefix}robots:https://b.test`)).toBe(
    '{"allow":[],"disallow":["/private"],"crawlDelayMs":2000}',
  );
});

test.each(['no JSON', 'null', '[]', '{"allow":[1],"disallow":[]}', '{"allow":[]}'])(
  'Redis: a value that is no rules is none: %s',
  async (value) => {
    const { store, prefix, close } = await openInRedis();
    onTestFinished(close);
    await redis.set(`${prefix}robots:https://a.test`, value, 'PX', 60_000);
    expect(await store.find('https://a.test')).toBeUndefined();
  },
);

test('Redis: when it can not answer, nobody is let through', async () => {
  const gone = new Redis(inject('redisUrl'));
  const store = new RedisRobotsStore({ redis: gone, prefix: 't:' });
  gone.disconnect();
  for (const asking of [
    store.find('https://a.test'),
    store.claim('https://a.test', 1),
    store.keep('https://a.test', { allow: [], disallow: [] }, 1),
    store.fail('https://a.test'),
  ]) {
    await expect(asking).rejects.toThrow('closed');
  }
});

test('Redis: while it is full nothing is kept, and everybody may ask', async () => {
  const { redis: full } = await openPrivateRedis('--maxmemory', '1', '--maxmemory-policy', 'noeviction');
  const store = new RedisRobotsStore({ redis: full, prefix: '' });
  expect([await store.claim('https://a.test', 1_000), await store.claim('https://a.test', 1_000)]).toEqual([
    true,
    true,
  ]);
  await store.keep('https://a.test', { allow: [], disallow: ['/'] }, 1_000);
  expect([await store.find('https://a.test'), await store.fail('https://a.test')]).toEqual([undefined, 1]);
});
