import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { nameOf } from '../../../shared/ports/frontier/frontier.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { POLICY } from '../../support/policy.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { page, pages, ROOM } from '../suites/frontier/frontier-setup.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

/** Opens a run of four pages: two wait, one awaits a retry, one is in flight. Its Redis user can lose a right. */
async function setup(lost: string) {
  const [prefix, username] = [`t${randomBytes(6).toString('hex')}:`, `u${randomBytes(4).toString('hex')}`];
  await redis.call('ACL', 'SETUSER', username, 'on', '>secret', `~${prefix}*`, '+@all');
  const own = redis.duplicate({ username, password: 'secret' });
  onTestFinished(async () => {
    own.disconnect();
    await redis.call('ACL', 'DELUSER', username);
    await redis.unlink(await redis.keys(`${prefix}*`));
  });
  const options = { redis: own, prefix, clock: new SteppedClock() };
  const frontier = new RedisFrontier({ ...options, policy: POLICY });
  const runs = new RedisRuns({ ...options, marks: 'exact' });
  await runs.open('r', { ...FAST_RUN, intervalMs: 1_000 }, 'p');
  await frontier.offer('r', pages(1, 4));
  const release = async () => {
    options.clock.step(1_000);
    const [task] = (await frontier.release({ ...ROOM, limit: 1 })).tasks;
    if (task === undefined) throw new Error('nothing was released');
    return nameOf(task);
  };
  await frontier.settle('r', await release(), { outcome: { kind: 'retry', reason: 'http_5xx', inMs: 1_000 } });
  const inFlight = await release();
  const acts = {
    offer: () => frontier.offer('r', [page(5)]),
    settle: () => frontier.settle('r', inFlight, { outcome: { kind: 'done' } }),
    release: async () => {
      options.clock.step(5_000);
      return await frontier.release(ROOM);
    },
    reap: async () => {
      options.clock.step(120_000);
      return await frontier.reap();
    },
    drain: () => frontier.drain(),
  };
  const stored = async () => {
    const keys = (await redis.keys(`${prefix}*`)).filter((key) => key !== `${prefix}clock`).toSorted();
    return await Promise.all(keys.map(async (key) => [key, (await redis.dumpBuffer(key))?.toString('hex')]));
  };
  const grant = (sign: '+' | '-') => redis.call('ACL', 'SETUSER', username, `${sign}${lost}`);
  return { acts, grant, runs, stored };
}

test.each([
  ['offer', 'RPUSH'],
  ['settle', 'HINCRBY'],
  ['settle', 'ZADD'],
  ['release', 'LPUSH'],
  ['release', 'ZREM'],
  ['reap', 'HINCRBY'],
  ['drain', 'HINCRBY'],
  ['drain', 'ZCARD'],
] as const)(
  '%s without the right to run %s writes nothing, and works again once the right is granted',
  async (act, lost) => {
    const { acts, grant, runs, stored } = await setup(lost);
    if (act === 'drain') await runs.cancel('r');
    const before = await stored();
    await grant('-');
    await expect(acts[act]()).rejects.toThrow(`: ${lost}. Grant it: redis-cli ACL SETUSER`);
    expect(await stored()).toEqual(before);
    await grant('+');
    await acts[act]();
    const { discovered, waiting, inFlight, done, cancelled } = (await runs.progress('r')) ?? {};
    expect([waiting, inFlight, done, cancelled].reduce((a = 0, b = 0) => a + b)).toBe(discovered);
  },
);
