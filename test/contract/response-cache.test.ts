import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { MemoryResponseCache } from '../../shared/response-caches/memory.ts';
import { RedisResponseCache } from '../../shared/response-caches/redis.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { describeResponseCache } from './response-cache.contract.ts';

const PAGE = { finalUrl: 'http://a.test/', status: 200, headers: {}, body: new Uint8Array(10), durationMs: 1 };

describeResponseCache(
  'in memory',
  async (limits) => {
    const clock = new SteppedClock();
    const cache = new MemoryResponseCache({ clock, ...limits });
    return { cache, step: async (ms) => clock.step(ms), close: async () => {} };
  },
  { whenFull: 'oldest goes' },
);

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

function uniquePrefix(): string {
  return `t${randomBytes(6).toString('hex')}:`;
}

describeResponseCache(
  'in Redis',
  async ({ ttlMs, maxBytes }) => {
    const prefix = uniquePrefix();
    const clock = new SteppedClock();
    const keys = (): Promise<string[]> => redis.keys(`${prefix}content:*`);
    return {
      cache: new RedisResponseCache({ redis, prefix, ttlMs, maxBytesPerMinute: maxBytes, clock }),
      // Expiry is Redis' own: what lies there is aged.
      step: async (ms) => {
        clock.step(ms);
        for (const key of await keys()) await redis.pexpire(key, (await redis.pttl(key)) - ms);
      },
      close: async () => void (await redis.unlink(`${prefix}content-budget`, ...(await keys()))),
    };
  },
  { whenFull: 'left alone' },
);

test('Redis: one that can not be reached is a miss, and keeps nothing, without an error', async () => {
  const gone = new Redis(inject('redisUrl'));
  const cache = new RedisResponseCache({ redis: gone, prefix: uniquePrefix(), ttlMs: 60_000, maxBytesPerMinute: 1e6 });
  gone.disconnect();
  await cache.set('http://a.test/', PAGE);
  expect(await cache.get('http://a.test/')).toBeUndefined();
});

test.each([
  ['of another type', (key: string) => redis.rpush(key, 'a', 'list')],
  ['of no meaning', (key: string) => redis.set(key, 'no page\n')],
  ['of one line', (key: string) => redis.set(key, '{"status":200}')],
])('Redis: a value %s under its key is a miss', async (_, put) => {
  const prefix = uniquePrefix();
  onTestFinished(async () => void (await redis.unlink(`${prefix}content:u`, `${prefix}content-budget`)));
  const cache = new RedisResponseCache({ redis, prefix, ttlMs: 60_000, maxBytesPerMinute: 1e6 });
  await put(`${prefix}content:u`);
  expect(await cache.get('u')).toBeUndefined();
  await cache.set('u', PAGE);
  expect(await cache.get('u')).toMatchObject({ status: 200 });
});
