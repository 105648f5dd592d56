import { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { RedisMemory } from '../../shared/stores/redis/memory-watch.ts';
import { describeFleetReading } from './suites/fleet-reading.contract.ts';
import { forEveryFrontier } from './suites/frontier/every-frontier.ts';

forEveryFrontier(describeFleetReading);

test('Redis reports its memory in use and its limit', async () => {
  const redis = new Redis(inject('redisUrl'));
  onTestFinished(() => redis.disconnect());
  const { usedBytes, limitBytes } = await new RedisMemory(redis).memory();
  expect(usedBytes).toBeGreaterThan(100_000);
  const [, limit] = (await redis.config('GET', 'maxmemory')) as string[];
  expect(limitBytes).toBe(Number(limit));
});
