import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { nameOf } from '../../../shared/ports/frontier.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { POLICY } from '../../support/policy.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { withMethods } from '../../support/with-methods.ts';
import { page, pages, ROOM } from '../suites/frontier-setup.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const clock = new SteppedClock();
  onTestFinished(async () => {
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
  });
  const frontierOn = (client: Redis) => new RedisFrontier({ redis: client, prefix, policy: POLICY, clock });
  return { prefix, clock, frontierOn, runs: new RedisRuns({ redis, prefix, marks: 'exact', clock }) };
}

/** A connection that breaks before each answer: the command is sent again, as it was. */
const resending = withMethods(redis, {
  evalsha: (async (...args: Parameters<Redis['evalsha']>) => {
    await redis.evalsha(...args);
    return await redis.evalsha(...args);
  }) as Redis['evalsha'],
});

test('an offer that is sent again gets the answer of the first, and counts no duplicates', async () => {
  const { runs, frontierOn, prefix } = setup();
  await runs.open('r', FAST_RUN, 'p');
  await frontierOn(redis).offer('r', [page(1)]);
  const frontier = frontierOn(resending);
  expect(await frontier.offer('r', pages(1, 3))).toEqual({ accepted: 2, known: 1 });
  expect(await frontier.offer('r', pages(1, 5), { most: 4 })).toEqual({ accepted: 1, known: 3, beyond: 1 });
  expect(await runs.progress('r')).toMatchObject({ discovered: 4, waiting: 4, duplicate: 4 });
  for (const key of await redis.keys(`${prefix}offer:*`)) {
    const ttl = await redis.pttl(key);
    expect([ttl > 0, ttl <= 60_000]).toEqual([true, true]);
  }
});

test('whatever becomes of its tasks, no host is remembered for ever', async () => {
  const { runs, frontierOn, prefix, clock } = setup();
  const frontier = frontierOn(redis);
  await runs.open('r', { ...FAST_RUN, intervalMs: 1_000 }, 'p');
  await frontier.offer('r', [page(1, 'late.test', { deadlineMs: 1 }), page(1, 'a.test')]);
  clock.step(10);
  for (const task of (await frontier.release(ROOM)).tasks) {
    await frontier.settle('r', nameOf(task), {
      outcome: task.verdict === 'go' ? { kind: 'done' } : { kind: 'failed', reason: 'deadline' },
    });
  }
  const keys = await redis.keys(`${prefix}ratelimit:*`);
  expect(keys.length).toBe(2);
  for (const key of keys) expect(await redis.pttl(key), key).toBeGreaterThan(0);
});
