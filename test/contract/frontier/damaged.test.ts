import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { RunLister } from '../../../shared/control/run-list.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisHostOverview } from '../../../shared/stores/redis/host-overview.ts';
import { RedisRoster } from '../../../shared/stores/redis/roster.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { POLICY } from '../../support/policy.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { pages, ROOM } from '../suites/frontier/frontier-setup.ts';

const HOUR_MS = 3_600_000;
const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

/** Opens two runs, each with four pages on its own host. */
async function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  onTestFinished(async () => void (await redis.unlink(await redis.keys(`${prefix}*`))));
  const clock = new SteppedClock();
  const options = { redis, prefix, clock };
  const frontier = new RedisFrontier({ ...options, policy: POLICY });
  const runs = new RedisRuns({ ...options, marks: 'exact' });
  for (const run of ['bad', 'good']) {
    await runs.open(run, FAST_RUN, 'p');
    await frontier.offer(run, pages(1, 4, `${run}.test`));
  }
  return {
    ...{ clock, frontier, prefix, runs },
    key: (name: string) => `${prefix}${name}`,
    async released() {
      const { tasks, damaged } = await frontier.release(ROOM);
      return { runs: tasks.map(({ task }) => task.run).sort(), damaged: (damaged ?? []).map(({ run }) => run) };
    },
  };
}

const GOOD = Array<string>(4).fill('good');
const BAD = Array<string>(4).fill('bad');

test.each([
  'run:bad',
  'run:bad:inflight',
  'run:bad:leases',
  'run:bad:ready',
  'run:bad:putback',
  'run:bad:wait:bad.test',
])(
  'a run whose key %s has the wrong type is reported as damaged, holds up no other run, and loses nothing',
  async (name) => {
    const { clock, key, released } = await setup();
    if ((await redis.exists(key(name))) === 1) await redis.rename(key(name), key('kept'));
    await redis.set(key(name), '1');
    expect(await released()).toEqual({ runs: GOOD, damaged: ['bad'] });
    await redis.del(key(name));
    if ((await redis.exists(key('kept'))) === 1) await redis.rename(key('kept'), key(name));
    clock.step(60_000);
    expect(await released()).toEqual({ runs: BAD, damaged: [] });
  },
);

test.each(['interval_ms', 'releases', 'released', 'waiting'])(
  'a run whose field %s is not a number is reported as damaged, holds up no other run, and loses nothing',
  async (field) => {
    const { clock, key, released } = await setup();
    const kept = await redis.hget(key('run:bad'), field);
    await redis.hset(key('run:bad'), field, 'x');
    expect(await released()).toEqual({ runs: GOOD, damaged: ['bad'] });
    if (kept === null) await redis.hdel(key('run:bad'), field);
    else await redis.hset(key('run:bad'), field, kept);
    clock.step(60_000);
    expect(await released()).toEqual({ runs: BAD, damaged: [] });
  },
);

const HOST_FIELDS = [
  ...['interval', 'response', 'limit', 'crawl_delay', 'crawl_delay_until', 'slow_ms'],
  ...['paused_until', 'release_at', 'next_at', 'opened', 'probe_until'],
];
const UNREADABLE = ['x', 'nan', 'inf', '1e300', 'inf inf', '5 1.2.3'];

test.each(HOST_FIELDS.flatMap((field) => UNREADABLE.map((value) => [field, value] as const)))(
  'a host whose field %s has the value ‘%s’ is released as if the field were absent',
  async (field, value) => {
    const { key, released } = await setup();
    await redis.hset(key('ratelimit:bad.test'), 'opened', '1', 'probe', 'other|1', field, value);
    const { runs, damaged } = await released();
    expect(runs).toEqual(expect.arrayContaining(['bad', ...GOOD]));
    expect(damaged).toEqual([]);
  },
);

test('a host whose key has the wrong type starts again without a history', async () => {
  const { key, released } = await setup();
  await redis.set(key('ratelimit:bad.test'), '1');
  expect(await released()).toEqual({ runs: [...BAD, ...GOOD], damaged: [] });
});

test.each<[string, (key: string) => Promise<unknown>]>([
  ['is of the wrong type', async (key) => await redis.multi().del(key).set(key, '1').exec()],
  ['has options that are cut short', async (key) => await redis.hset(key, 'options', '{"rob')],
])('a run whose key %s is reported with what to do, and does not hide other runs from a list', async (_, damage) => {
  const { clock, key, prefix, runs } = await setup();
  await damage(key('run:bad'));
  const said = /^run bad is damaged in the store: .+\. Restore it from a backup, or crawl again under another name$/;
  await expect(runs.progress('bad')).rejects.toThrow(said);
  const roster = new RedisRoster({ redis, prefix, clock });
  const hosts = new RedisHostOverview({ redis, prefix, clock });
  const { views, damaged } = await new RunLister({ runs, roster, hosts, clock }).look();
  expect(views.map(({ progress }) => progress.run)).toEqual(['good']);
  expect(damaged).toEqual([expect.stringMatching(said)]);
  expect(await hosts.due()).toBeGreaterThanOrEqual(1);
  expect((await runs.tallies(9)).map(({ run }) => run)).toContain('good');
});

test.each<[string, (key: string) => Promise<unknown>]>([
  ['is of the wrong type', async (key) => await redis.multi().del(key).set(key, '1').exec()],
  ['has a counter that is no number', async (key) => await redis.hset(key, 'waiting', 'x')],
  [
    'has a ledger of the wrong type',
    async (key) => await redis.multi().del(`${key}:inflight`).set(`${key}:inflight`, '1').exec(),
  ],
])('a run whose key %s has no tally, and the others have theirs', async (_, damage) => {
  const { key, runs } = await setup();
  await damage(key('run:bad'));
  expect((await runs.tallies(9)).map(({ run }) => run)).toEqual(['good']);
});

test('a damaged run does not stop other runs from being reaped and drained', async () => {
  const { clock, frontier, key, released, runs } = await setup();
  await released();
  await redis.rename(key('run:bad:leases'), key('kept'));
  await redis.set(key('run:bad:leases'), '1');
  clock.step(HOUR_MS);
  expect(await frontier.reap()).toBe(4);
  await runs.cancel('bad');
  await runs.cancel('good');
  await redis.hset(key('run:bad'), 'waiting', 'x');
  expect(await frontier.drain()).toBe(4);
});

test.each(['HLEN', 'HSET', 'LPOP', 'ZADD'])(
  'without the right to %s, release is refused and loses nothing',
  async (command) => {
    const { key, released } = await setup();
    const [username, password] = [`u${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')];
    await redis.call('ACL', 'SETUSER', username, 'on', `>${password}`, '~*', '+@all', `-${command}`);
    const refused = redis.duplicate({ username, password });
    onTestFinished(async () => {
      refused.disconnect();
      await redis.call('ACL', 'DELUSER', username);
    });
    const frontier = new RedisFrontier({ redis: refused, prefix: key(''), policy: POLICY });
    await expect(frontier.release(ROOM)).rejects.toThrow(`: ${command}. Grant it`);
    expect(await released()).toEqual({ runs: [...BAD, ...GOOD], damaged: [] });
  },
);
