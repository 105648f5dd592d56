import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { nameOf } from '../../../shared/ports/frontier/frontier.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { POLICY } from '../../support/policy.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { OPTIONS, pages, ROOM } from '../suites/frontier/frontier-setup.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

async function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const clock = new SteppedClock();
  onTestFinished(async () => void (await redis.unlink(...(await redis.keys(`${prefix}*`)))));
  const runs = new RedisRuns({ redis, prefix, marks: 'exact', clock });
  await runs.open('r', OPTIONS, 'p');
  return { runs, clock, prefix, frontier: new RedisFrontier({ redis, prefix, policy: POLICY, clock }) };
}

const BAD: readonly (readonly [string, string, string])[] = [
  ['a form that is no JSON', '0 0 0 0 1\thttp://a.test/bad\t{"url":', 'http://a.test/bad'],
  ['a form of another shape', '0 0 0 0 1\thttp://a.test/bad\t{"url":7}', 'http://a.test/bad'],
  ['a form that is no object', '0 0 0 0 1\thttp://a.test/bad\tnull', 'http://a.test/bad'],
  ['redirects that are not texts', '0 0 0 0 1\thttp://a.test/bad\t{"redirects":[1]}', 'http://a.test/bad'],
  ['numbers that are missing', '0 0\thttp://a.test/bad\t', 'http://a.test/bad'],
  ['no mark at all', 'what is\nthis', 'what is this'],
  ['nothing', '', ''],
];

test.each(BAD)(
  'a waiting entry with %s fails as malformed under its mark, and the other tasks go on',
  async (_, entry, mark) => {
    const { frontier, runs, clock, prefix } = await setup();
    await frontier.offer('r', pages(1, 2));
    await redis.lpush(`${prefix}run:r:wait:a.test`, entry);
    await redis.hincrby(`${prefix}run:r`, 'waiting', 1);
    await redis.hincrby(`${prefix}run:r`, 'discovered', 1);
    // At first its dead letter can't be published, then its process dies.
    for (const again of ['put back', 'lapsed', 'ended']) {
      const { tasks } = await frontier.release(ROOM);
      const bad = tasks.find(({ verdict }) => verdict === 'malformed');
      expect(bad, again).toMatchObject({ task: { mark }, problem: expect.stringMatching(/can.*t be read/) });
      if (bad === undefined) continue;
      if (again === 'put back') {
        expect(tasks.filter(({ verdict }) => verdict === 'go').length).toBe(2);
        await frontier.settle('r', nameOf(bad), { outcome: { kind: 'defer' } });
      } else if (again === 'ended') {
        await frontier.fail('r', [nameOf(bad)], 'malformed');
      }
      clock.step(60_000);
      await frontier.reap();
    }
    for (const task of (await frontier.release(ROOM)).tasks)
      await frontier.settle('r', nameOf(task), { outcome: { kind: 'done' } });
    await runs.seal('r', 'p');
    expect(await runs.progress('r')).toMatchObject({ state: 'finished', failed: 1, done: 2 });
  },
);

test('an unreadable retry or task in the ledger also fails as malformed', async () => {
  const { frontier, runs, clock, prefix } = await setup();
  await redis.zadd(`${prefix}run:r:putback`, clock.now(), 'a strange retry');
  await redis.zadd(`${prefix}ready`, clock.now(), 'r');
  await redis.hset(`${prefix}run:r:inflight`, '7', 'a strange task');
  await redis.zadd(`${prefix}run:r:leases`, clock.now(), '7');
  await redis.hincrby(`${prefix}run:r`, 'waiting', 1);
  await redis.hincrby(`${prefix}run:r`, 'discovered', 2);
  expect(await frontier.reap()).toBe(1);
  const { tasks } = await frontier.release(ROOM);
  expect(tasks.map(({ verdict, task }) => [verdict, task.mark]).toSorted()).toEqual([
    ['malformed', 'a strange retry'],
    ['malformed', 'a strange task'],
  ]);
  await frontier.fail('r', tasks.map(nameOf), 'malformed');
  await runs.seal('r', 'p');
  expect(await runs.progress('r')).toMatchObject({ state: 'finished', failed: 2, waiting: 0, inFlight: 0 });
});
