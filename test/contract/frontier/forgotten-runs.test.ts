import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { nameOf, type Settlement } from '../../../shared/ports/frontier/frontier.ts';
import type { RunOptions } from '../../../shared/ports/runs.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { DAY_MS } from '../../../shared/task/durations.ts';
import { POLICY } from '../../support/policy.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { OPTIONS, page, ROOM } from '../suites/frontier/frontier-setup.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

const FAILED: Settlement = {
  outcome: { kind: 'failed', reason: 'step' },
  hostAnswered: false,
  hostTrouble: { kind: 'silent', reason: 'connection refused' },
  attempt: { at: 1, worker: 'w', reason: 'step', error: 'it broke', place: 'crawler.ts:1' },
};

async function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const clock = new SteppedClock();
  onTestFinished(async () => {
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
  });
  const frontier = new RedisFrontier({ redis, prefix, policy: POLICY, clock });
  const runs = new RedisRuns({ redis, prefix, marks: 'exact', clock });
  /** Opens a run that uses every kind of key, and ends it. */
  const crawl = async (run: string, options: Partial<RunOptions> = {}): Promise<void> => {
    await runs.open(run, { ...OPTIONS, incremental: true, recrawlAfterMs: 1, ...options }, 'p', { input: 'list' });
    const steps = [1, 2, 3].map((n) => ({ ...page(n), step: 's', mark: `s http://a.test/${n}`, domain: 'a.test' }));
    await frontier.offer(run, steps, { mostHosts: 9 });
    const [first, second, third] = (await frontier.release(ROOM)).tasks.map(nameOf);
    if (first === undefined || second === undefined || third === undefined) throw new Error('three are due');
    await frontier.missing(run, first);
    await frontier.settle(run, first, FAILED);
    await frontier.claim(run, second, 's http://a.test/moved');
    await frontier.settle(run, second, { outcome: { kind: 'retry', reason: 'timeout', inMs: 1 }, hostSpoke: true });
    await frontier.settle(run, third, { outcome: { kind: 'done' } });
    clock.step(DAY_MS);
    for (const task of (await frontier.release(ROOM)).tasks)
      await frontier.settle(run, nameOf(task), { outcome: { kind: 'skipped', reason: 'robots' } });
    await runs.seal(run, 'p');
    expect((await runs.progress(run))?.state).toBe('finished');
  };
  const keysOf = async (run: string) =>
    (await redis.keys(`${prefix}run:${run}*`)).map((key) => key.slice(prefix.length)).toSorted();
  return { runs, frontier, clock, crawl, keysOf, prefix };
}

test.each<[string, Partial<RunOptions>]>([
  ['that shares its marks', {}],
  ['with its own marks', { dedup: 'run' }],
])('a run %s leaves no key of its own behind once its time is over, and not before', async (_, options) => {
  const { runs, clock, crawl, keysOf, prefix } = await setup();
  await crawl('old', options);
  clock.step(1_000);
  const before = await keysOf('old');
  expect(before.length).toBeGreaterThan(4);
  expect(await runs.sweep(1_001)).toBe(0);
  expect(await keysOf('old')).toEqual(before);
  expect(await runs.sweep(1_000)).toBe(1);
  expect(await keysOf('old')).toEqual([]);
  for (const list of ['runs', 'runs:ended', 'runs:marked', 'runs:open'])
    expect(await redis.zscore(prefix + list, 'old'), list).toBeNull();
});

test('a run that is opened again is kept, however long ago it had ended', async () => {
  const { runs, frontier, clock, crawl } = await setup();
  await crawl('again');
  clock.step(DAY_MS);
  expect(await runs.open('again', OPTIONS, 'q')).toMatchObject({ how: 'reopened' });
  expect(await runs.sweep(1_000)).toBe(0);
  expect(await frontier.offer('again', [page(9)])).toEqual({ accepted: 1, known: 0 });
  expect((await frontier.release(ROOM)).tasks.length).toBe(1);
});
