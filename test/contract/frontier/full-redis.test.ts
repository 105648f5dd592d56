import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { nameOf, type ReleasedTask } from '../../../shared/ports/frontier/frontier.ts';
import { RedisBiographer } from '../../../shared/stores/redis/biographer.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisMemory } from '../../../shared/stores/redis/memory-watch.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { FAST_RUN } from '../../support/builders.ts';
import { POLICY } from '../../support/policy.ts';
import { openPrivateRedis } from '../../support/servers/private-redis.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { withMethods } from '../../support/with-methods.ts';
import { page, pages, ROOM, urls } from '../suites/frontier/frontier-setup.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

const MIB = 2 ** 20;
const NAP_MS = 1_000;
const LINKS = { bytes: 3 * MIB, leavesRoom: false };

/** Opens a run `r` with three pages, in a Redis limited to 100 MiB. */
async function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const clock = new SteppedClock();
  onTestFinished(async () => {
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
  });
  let usedBytes = 0;
  const read = async () => ({ usedBytes, limitBytes: 100 * MIB });
  const memory = withMethods(new RedisMemory(redis), { isFull: async () => false, recent: read, memory: read });
  const frontier = new RedisFrontier({ redis, prefix, policy: POLICY, clock, memory });
  const runs = new RedisRuns({ redis, prefix, marks: 'exact', clock });
  const biographer = new RedisBiographer({ redis, prefix, clock });
  await runs.open('r', FAST_RUN, 'p');
  await frontier.offer('r', pages(1, 3));
  await runs.seal('r', 'p');
  return {
    ...{ frontier, runs, clock, biographer },
    /** Sets the share of its memory that Redis reports as used. */
    fill: (share: number) => {
      usedBytes = share * 100 * MIB;
    },
    release: async (): Promise<ReleasedTask[]> => [...(await frontier.release(ROOM)).tasks],
    /** Puts back tasks whose links were refused. Returns the pause reason of the run after each. */
    refuse: async (tasks: readonly ReleasedTask[], refused = LINKS): Promise<(string | undefined)[]> => {
      const reasons: (string | undefined)[] = [];
      for (const task of tasks) {
        await frontier.admit('r', nameOf(task), 'w');
        await frontier.settle('r', nameOf(task), { outcome: { kind: 'defer', inMs: NAP_MS }, refused });
        reasons.push((await frontier.pauseStuck()).find(({ run }) => run === 'r')?.reason);
      }
      return reasons;
    },
    end: async (tasks: readonly ReleasedTask[]): Promise<void> => {
      for (const task of tasks) await frontier.settle('r', nameOf(task), { outcome: { kind: 'done' } });
    },
  };
}

test('a page whose links a full Redis refused waits until there is room, and costs no attempt', async () => {
  const { frontier, runs, clock, biographer, fill, release, refuse } = await setup();
  fill(0.96);
  const [first] = await release();
  await refuse([first as ReleasedTask]);
  clock.step(NAP_MS - 1);
  expect(await release()).toEqual([]);
  clock.step(10 * NAP_MS);
  expect(await release(), 'still full').toEqual([]);
  const mark = (first as ReleasedTask).task.mark;
  const trace = await biographer.trace('r', { mark, host: 'a.test' });
  expect(trace?.place).toMatchObject({ at: 'retry', inMs: 0, forRoom: true });
  expect((await frontier.release(ROOM)).nextLookMs, 'it is looked again soon').toBeLessThanOrEqual(1_000);
  fill(0.94);
  clock.step(NAP_MS);
  expect(await release()).toMatchObject([{ task: { mark }, state: { attempts: 0, starts: 0 } }]);
  expect(await runs.progress('r')).toMatchObject({ state: 'running', discovered: 3, waiting: 0, inFlight: 3 });
});

test('a run whose tasks all wait for room is paused, says how much it needs, and resumes once it has that', async () => {
  const { frontier, runs, clock, fill, release, refuse, end } = await setup();
  fill(0.96);
  const [first, second, third] = (await release()) as [ReleasedTask, ReleasedTask, ReleasedTask];
  expect(await refuse([first, third]), 'another may end').toEqual([undefined, undefined]);
  await end([second]);
  const [{ run, reason } = {}] = await frontier.pauseStuck();
  expect([run, await frontier.pauseStuck()]).toEqual(['r', []]);
  // (96 + 2 × 3) / 0.95 = 107.4
  expect(reason).toBe('Redis is full: needs about 8 MiB more (maxmemory), then the run resumes by itself');
  expect(await runs.progress('r')).toMatchObject({ state: 'paused', pauseReason: reason, done: 1, waiting: 2 });
  fill(0.93);
  clock.step(NAP_MS);
  expect(await release(), 'not yet enough for both').toEqual([]);
  expect(await runs.progress('r')).toMatchObject({ state: 'paused' });
  fill(0.8);
  clock.step(NAP_MS);
  const again = await release();
  expect(again).toHaveLength(2);
  const progress = await runs.progress('r');
  expect([progress?.state, progress?.pauseReason]).toEqual(['running', undefined]);
  await end(again);
  expect(await runs.progress('r')).toMatchObject({
    state: 'finished',
    discovered: 3,
    done: 3,
    waiting: 0,
    inFlight: 0,
  });
});

test('a run resumed by a person tries once more, and is paused again if Redis is still full', async () => {
  const { runs, clock, fill, release, refuse } = await setup();
  fill(0.96);
  expect((await refuse(await release())).at(-1)).toMatch(/Redis is full/);
  await runs.resume('r');
  expect(await runs.progress('r')).toMatchObject({ state: 'running' });
  clock.step(NAP_MS);
  const again = await release();
  expect(again).toHaveLength(3);
  const reasons = await refuse(again);
  expect(reasons).toEqual([undefined, undefined, expect.stringMatching(/Redis is full/)]);
  clock.step(10 * NAP_MS);
  expect(await release()).toEqual([]);
  expect(await runs.progress('r')).toMatchObject({ state: 'paused', waiting: 3, inFlight: 0, discovered: 3 });
});

test('a pause by a person keeps its reason and is ended only by a person', async () => {
  const { frontier, runs, clock, fill, release, refuse } = await setup();
  fill(0.96);
  const tasks = await release();
  await runs.pause('r', 'by hand');
  expect(await refuse(tasks)).toEqual([undefined, undefined, undefined]);
  expect(await runs.progress('r')).toMatchObject({ state: 'paused', pauseReason: 'by hand' });
  await runs.resume('r');
  clock.step(NAP_MS);
  expect((await refuse(await release())).at(-1)).toMatch(/Redis is full/);
  await runs.pause('r', 'by hand');
  expect(await runs.progress('r')).toMatchObject({ state: 'paused', pauseReason: 'by hand' });
  fill(0.1);
  clock.step(10 * NAP_MS);
  await frontier.offer('r', [page(4)]);
  expect(await release(), 'a new seed does not resume it either').toEqual([]);
  await runs.resume('r');
  clock.step(NAP_MS);
  expect(await release()).toHaveLength(4);
});

test('between 80 % and 95 % full, only tasks that leave room for others wait', async () => {
  const { runs, clock, fill, release, refuse, end } = await setup();
  fill(0.85);
  const [owner, ...lists] = (await release()) as [ReleasedTask, ReleasedTask, ReleasedTask];
  const leaving = { ...LINKS, leavesRoom: true };
  expect(await refuse(lists, leaving), 'the owner may end').toEqual([undefined, undefined]);
  expect(await refuse([owner]), 'there is room for its links').toEqual([undefined]);
  clock.step(NAP_MS);
  const [again] = await release();
  expect(again?.task.mark).toBe(owner.task.mark);
  await end([again as ReleasedTask]);
  clock.step(NAP_MS);
  expect(await release()).toEqual([]);
  fill(0.79);
  clock.step(NAP_MS);
  const late = await release();
  expect(late).toHaveLength(2);
  fill(0.85);
  // (85 + 2 × 3) / 0.8 = 113.75
  expect((await refuse(late, leaving)).at(-1)).toMatch(/needs about 14 MiB more/);
  expect(await runs.progress('r')).toMatchObject({ state: 'paused', waiting: 2, done: 1 });
});

test('cancelling a paused run also cancels its tasks waiting for room', async () => {
  const { runs, frontier, clock, fill, release, refuse } = await setup();
  fill(0.96);
  await refuse(await release());
  await runs.cancel('r');
  while ((await frontier.drain()) > 0);
  expect(await runs.progress('r')).toMatchObject({ state: 'cancelled', cancelled: 3, waiting: 0 });
  clock.step(NAP_MS);
  fill(0.1);
  expect(urls(await frontier.release(ROOM))).toEqual([]);
  expect((await runs.progress('r'))?.endedAt).toBeDefined();
});

test('a run with a task that has not been tried is not paused', async () => {
  const { runs, frontier, fill, release, refuse } = await setup();
  fill(0.96);
  const tasks = await release();
  await frontier.offer('r', [page('new', 'b.test')]);
  expect(await refuse(tasks)).toEqual([undefined, undefined, undefined]);
  expect(await runs.progress('r')).toMatchObject({ state: 'running', waiting: 4 });
});

test('a run opens although Redis has no room for its first URL, which is accepted once there is room', async () => {
  const { redis: full } = await openPrivateRedis('--maxmemory', '1', '--maxmemory-policy', 'noeviction');
  const frontier = new RedisFrontier({ redis: full, prefix: '', policy: POLICY });
  const runs = new RedisRuns({ redis: full, prefix: '', marks: 'exact' });
  expect(await runs.open('r', FAST_RUN, 'p')).toMatchObject({ how: 'created' });
  expect(await frontier.offer('r', [page(1)])).toEqual({ refused: 'full' });
  await full.config('SET', 'maxmemory', '0');
  expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 1, known: 0 });
});
