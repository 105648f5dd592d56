import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { nameOf, type ReleaseName } from '../../../shared/ports/frontier/frontier.ts';
import { LONGEST_PAUSE_MS } from '../../../shared/ports/host-gate.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisHostGate } from '../../../shared/stores/redis/host-gate.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { MINUTE_MS } from '../../../shared/task/durations.ts';
import { PAGE_RETENTION_MS } from '../../../shared/task/task/known-page.ts';
import type { Outcome } from '../../../shared/task/task/outcome.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { POLICY } from '../../support/policy.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { withMethods } from '../../support/with-methods.ts';
import { page, pages, ROOM } from '../suites/frontier/frontier-setup.ts';

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

/** A connection that breaks before each answer, so that every command is sent twice. */
const resending = withMethods(redis, {
  evalsha: (async (...args: Parameters<Redis['evalsha']>) => {
    await redis.evalsha(...args);
    return await redis.evalsha(...args);
  }) as Redis['evalsha'],
});

test('an offer sent twice gets the answer of the first and counts no duplicates', async () => {
  const { runs, frontierOn, prefix } = setup();
  await runs.open('r', FAST_RUN, 'p');
  await frontierOn(redis).offer('r', [page(1)]);
  const frontier = frontierOn(resending);
  expect(await frontier.offer('r', pages(1, 3))).toEqual({ accepted: 2, known: 1 });
  expect(await frontier.offer('r', pages(1, 5), { most: 4 })).toEqual({
    accepted: 1,
    known: 3,
    leftOut: { maxPages: 1 },
  });
  expect(await runs.progress('r')).toMatchObject({ discovered: 4, waiting: 4, duplicate: 4 });
  for (const key of await redis.keys(`${prefix}offer:*`)) {
    const ttl = await redis.pttl(key);
    expect([ttl > 0, ttl <= 60_000]).toEqual([true, true]);
  }
});

test('the key `failures:<url>` counts failed attempts for a day, as their notes are kept, until the page is there', async () => {
  const { runs, frontierOn, prefix, clock } = setup();
  const frontier = frontierOn(redis);
  await runs.open('r', FAST_RUN, 'p');
  await frontier.offer('r', [page(1)]);
  const key = `${prefix}failures:http://a.test/1`;
  const attempt = { at: clock.now(), worker: 'w', reason: 'timeout' };
  const next = async (outcome: Outcome): Promise<string | null> => {
    const [only] = (await frontier.release(ROOM)).tasks.map(nameOf);
    if (only === undefined) throw new Error('it was due');
    await frontier.settle('r', only, { outcome, ...(outcome.kind === 'done' ? {} : { attempt }) });
    clock.step(1_000);
    return await redis.get(key);
  };
  const fails = { kind: 'retry', reason: 'timeout', inMs: 1_000 } as const;
  expect(await next(fails)).toBe('1');
  expect(await next({ kind: 'defer' }), 'no attempt was counted').toBe('1');
  expect(await next(fails)).toBe('2');
  for (const each of [key, `${prefix}attempts:http://a.test/1`, `${prefix}noted`]) {
    const leftMs = await redis.pttl(each);
    expect(leftMs, each).toBeGreaterThan(86_000_000);
    expect(leftMs, each).toBeLessThanOrEqual(86_400_000);
  }
  expect(await next({ kind: 'done' })).toBeNull();
  await frontier.offer('r', [page(2)]);
  await next({ kind: 'failed', reason: 'timeout' });
  expect(await redis.get(`${prefix}failures:http://a.test/2`), 'the last attempt counts, too').toBe('1');
});

test('the keys of a host expire, whatever happens to its tasks', async () => {
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
  expect(keys, 'late.test was never asked').toEqual([`${prefix}ratelimit:a.test`]);
  for (const key of keys) expect(await redis.pttl(key), key).toBeGreaterThan(0);
});

test('a host’s record is kept for as long as its pause lasts, whatever asks for less meanwhile', async () => {
  const { prefix, clock } = setup();
  const gate = new RedisHostGate({ redis, prefix, clock });
  await gate.pauseByHand('a.test', 'asked to');
  const keptMs = () => redis.pttl(`${prefix}ratelimit:a.test`);
  const before = await keptMs();
  expect(before).toBeGreaterThan(LONGEST_PAUSE_MS);
  await gate.leave('a.test', { intervalMs: 0, concurrency: 1 }, 'h', { durationMs: 50 });
  await gate.slow('a.test', 1_000, 2_000);
  expect(await keptMs()).toBeGreaterThan(LONGEST_PAUSE_MS);
});

test('what is remembered of a page is kept for its time from the last visit, and no longer', async () => {
  const { runs, frontierOn, prefix } = setup();
  const frontier = frontierOn(redis);
  await runs.open('r', { ...FAST_RUN, dedup: 'ever', incremental: true }, 'p');
  await frontier.offer('r', [page(1)]);
  const visit = { contentHash: 'h', bytes: 1, readAs: 'page', askedMsAgo: 0, bytesSaved: 0 };
  for (const task of (await frontier.release(ROOM)).tasks)
    await frontier.settle('r', nameOf(task), { outcome: { kind: 'done' }, page: visit });
  const keptMs = await redis.pttl(`${prefix}page:http://a.test/1`);
  expect([keptMs > PAGE_RETENTION_MS - MINUTE_MS, keptMs <= PAGE_RETENTION_MS]).toEqual([true, true]);
});

test('fewer tasks than the window are in flight while Redis answers slowly, and more again when it recovers', async () => {
  const { runs, frontierOn, clock } = setup();
  let answersInMs = 0;
  const slow = withMethods(redis, {
    evalsha: (async (...args: Parameters<Redis['evalsha']>) => {
      clock.step(answersInMs);
      return await redis.evalsha(...args);
    }) as Redis['evalsha'],
  });
  const frontier = frontierOn(slow);
  await runs.open('r', FAST_RUN, 'p');
  for (let from = 1; from <= 2_000; from += 500) await frontier.offer('r', pages(from, from + 499));
  const out: ReleaseName[] = [];
  const look = async (ms: number): Promise<number> => {
    answersInMs = ms;
    const { tasks } = await frontier.release({ ...ROOM, limit: 1_000 });
    answersInMs = 0;
    out.push(...tasks.map(nameOf));
    clock.step(500);
    return out.length;
  };
  const settle = async (count: number): Promise<void> => {
    for (const name of out.splice(0, count)) await frontier.settle('r', name, { outcome: { kind: 'done' } });
  };
  expect(await look(0), 'as quick as it can be').toBe(1_000);
  // A single look can be slow because the machine is. Five in a row mean that Redis is slow.
  for (let n = 0; n < 5; n++) expect(await look(62.5)).toBe(1_000);
  expect(await look(62.5), 'down to four fifths').toBe(1_000);
  await settle(500);
  expect([await look(62.5), await look(62.5), await look(62.5)], 'to 400, 320 and 256').toEqual([500, 500, 500]);
  await settle(400);
  expect(await look(62.5), 'never below 200').toBe(200);
  expect(await look(0), 'it was still slow before').toBe(200);
  expect([await look(0), await look(0)], 'a tenth more each time').toEqual([220, 242]);
  // A very slow look counts at once, in proportion to its delay.
  expect([await look(250), await look(0)]).toEqual([266, 266]);
  await settle(60);
  expect(await look(0), 'a tenth above 200').toBe(220);
});
