import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { RedisRoster } from '../../shared/stores/redis/roster.ts';
import { SteadyClock } from '../../shared/stores/sqlite/steady-clock.ts';
import { openLocalParts } from '../support/stores/local-parts.ts';
import { SteppedClock } from '../support/stores/stepped-clock.ts';
import { describeRoster } from './suites/roster.contract.ts';

describeRoster('in SQLite', async () => {
  const clock = new SteppedClock();
  const { roster, database } = openLocalParts({ clock: new SteadyClock(clock) });
  return { roster, step: (ms) => clock.step(ms), close: async () => database.close() };
});

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

function uniquePrefix(): string {
  return `t${randomBytes(6).toString('hex')}:`;
}

describeRoster('in Redis', async () => {
  const prefix = uniquePrefix();
  const clock = new SteppedClock();
  const close = async (): Promise<void> =>
    void (await redis.unlink(`${prefix}workers`, `${prefix}workers:slots`, `${prefix}beats`, `${prefix}clock`));
  return { roster: new RedisRoster({ redis, prefix, clock }), step: (ms) => clock.step(ms), close };
});

test('Redis: beats have the time of the server, and a person can read the list', async () => {
  const prefix = uniquePrefix();
  onTestFinished(
    async () =>
      void (await redis.unlink(`${prefix}workers`, `${prefix}workers:slots`, `${prefix}beats`, `${prefix}clock`)),
  );
  const roster = new RedisRoster({ redis, prefix });
  const before = Number((await redis.time())[0]) * 1_000;
  await roster.beat({
    id: 'w-1',
    host: 'machine',
    version: '1',
    slots: 4,
    inHand: 1,
    bound: 'slots',
    state: 'consuming',
  });
  const entry = JSON.parse((await redis.hget(`${prefix}workers`, 'w-1')) ?? '');
  expect(entry).toMatchObject({ id: 'w-1', host: 'machine', slots: 4, inHand: 1, bound: 'slots', state: 'consuming' });
  expect(entry.beat).toBeGreaterThanOrEqual(before);
  expect((await roster.workers())[0]?.silentMs).toBeLessThan(5_000);
});

test('Redis: foreign entries under the same key are not listed as workers and are kept', async () => {
  const prefix = uniquePrefix();
  onTestFinished(async () => void (await redis.unlink(`${prefix}workers`, `${prefix}workers:slots`)));
  const others = { a: 'no JSON', b: 'null', c: '[]', d: '"x"', e: '{"beat":1}', f: '{"id":"f","beat":"1"}' };
  await redis.hset(`${prefix}workers`, others);
  expect(await new RedisRoster({ redis, prefix }).workers()).toEqual([]);
  expect(await redis.hgetall(`${prefix}workers`)).toEqual(others);
  await redis.hset(`${prefix}workers:slots`, { a: 'no number', b: '5' });
  expect(await new RedisRoster({ redis, prefix }).capacity()).toEqual({ workers: 0, slots: 0 });
  expect(await redis.hlen(`${prefix}workers:slots`)).toBe(2);
});
