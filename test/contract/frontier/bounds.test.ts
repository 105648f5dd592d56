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

// What Redis keeps for people or for ended runs is bounded, so that a failing crawl or many crawls can't fill it.
const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

function setup(mostNoted?: number) {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const clock = new SteppedClock();
  const keys = async (pattern: string): Promise<string[]> =>
    (await redis.keys(`${prefix}${pattern}`)).map((key) => key.slice(prefix.length)).toSorted();
  onTestFinished(async () => {
    for (const key of await keys('*')) await redis.unlink(prefix + key);
  });
  const runs = new RedisRuns({ redis, prefix, marks: 'exact', clock });
  const bound = mostNoted === undefined ? {} : { mostNoted };
  return { clock, keys, runs, frontier: new RedisFrontier({ redis, prefix, policy: POLICY, clock, ...bound }) };
}

test('failed attempts are kept only for the URLs that failed last', async () => {
  const { clock, keys, runs, frontier } = setup(3);
  await runs.open('r', FAST_RUN, 'p');
  await frontier.offer('r', pages(1, 6));
  const { tasks } = await frontier.release(ROOM);
  const attempt = { at: clock.now(), worker: 'w', reason: 'timeout' };
  for (const release of tasks.map(nameOf)) {
    clock.step(10);
    await frontier.admit('r', release, 'w');
    await frontier.settle('r', release, { outcome: { kind: 'retry', reason: 'timeout', inMs: 60_000 }, attempt });
  }
  for (const name of ['attempts', 'failures']) {
    expect(await keys(`${name}:*`)).toEqual([4, 5, 6].map((n) => `${name}:http://a.test/${n}`));
  }
  expect(await frontier.attempts('http://a.test/1')).toEqual([]);
});

test('who has claimed the target of a redirect is kept until the page has ended', async () => {
  const { keys, runs, frontier } = setup();
  await runs.open('r', FAST_RUN, 'p');
  await frontier.offer('r', pages(1, 3));
  const released = (await frontier.release(ROOM)).tasks.map(nameOf);
  for (const [n, name] of released.entries()) await frontier.claim('r', name, `http://a.test/target/${n}`);
  expect(await keys('run:r:claims')).toHaveLength(1);
  const outcomes = [
    { kind: 'done' },
    { kind: 'skipped', reason: 'size' },
    { kind: 'failed', reason: 'http_4xx' },
  ] as const;
  for (const [n, outcome] of outcomes.entries()) {
    const name = released[n];
    if (name === undefined) throw new Error('three were released');
    await frontier.settle('r', name, { outcome });
  }
  expect(await keys('run:r:claims')).toEqual([]);
});

test('own marks are kept for the last hundred ended runs, and for open ones', async () => {
  const { clock, keys, runs, frontier } = setup();
  for (let n = 0; n < 103; n++) {
    const run = `run-${String(n).padStart(3, '0')}`;
    await runs.open(run, { ...FAST_RUN, dedup: 'run' }, 'p');
    await frontier.offer(run, [page(n)]);
    await runs.seal(run, 'p');
    // The first run is opened again, and keeps its marks while it is open.
    if (n === 50) await runs.open('run-000', { ...FAST_RUN, dedup: 'run' }, 'again');
    const { tasks } = await frontier.release(ROOM);
    for (const each of tasks) await frontier.settle(run, nameOf(each), { outcome: { kind: 'done' } });
    clock.step(10);
  }
  const kept = await keys('run:*:seen');
  expect(kept.length).toBe(101);
  expect(kept.slice(0, 2)).toEqual(['run:run-000:seen', 'run:run-003:seen']);
});
