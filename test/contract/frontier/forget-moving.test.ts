import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { nameOf, type ReleaseName } from '../../../shared/ports/frontier/frontier.ts';
import type { Forgettable } from '../../../shared/ports/marks.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisMarks } from '../../../shared/stores/redis/marks.ts';
import { MoveLog } from '../../../shared/stores/redis/move-log.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { Scripts } from '../../../shared/stores/redis/scripts.ts';
import type { Outcome } from '../../../shared/task/task/outcome.ts';
import { POLICY } from '../../support/policy.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { withMethods } from '../../support/with-methods.ts';
import { OPTIONS, page, ROOM } from '../suites/frontier/frontier-setup.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

const MARK = 'http://a.test/1';

async function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const clock = new SteppedClock();
  onTestFinished(async () => void (await redis.unlink(...(await redis.keys(`${prefix}*`)))));
  const runs = new RedisRuns({ redis, prefix, marks: 'exact', clock });
  await runs.open('r', OPTIONS, 'p');
  const frontier = new RedisFrontier({ redis, prefix, policy: POLICY, clock });
  /** Forgets marks. Performs each move before the reading of tasks with its number. */
  const forgetWhile = async (
    moves: ReadonlyMap<number, () => Promise<unknown>>,
    which: Forgettable = { mark: MARK },
  ) => {
    let reads = 0;
    const moving = async (): Promise<void> => void (await moves.get(reads++)?.());
    const watched = withMethods(redis, {
      hscan: (async (...args: Parameters<Redis['hscan']>) => {
        await moving();
        return await redis.hscan(...args);
      }) as Redis['hscan'],
      zscan: (async (...args: Parameters<Redis['zscan']>) => {
        await moving();
        return await redis.zscan(...args);
      }) as Redis['zscan'],
      lrange: (async (...args: Parameters<Redis['lrange']>) => {
        await moving();
        return await redis.lrange(...args);
      }) as Redis['lrange'],
    });
    const forgotten = await new RedisMarks({ redis: watched, prefix, clock }).forget(which);
    return forgotten;
  };
  return { frontier, runs, clock, prefix, forgetWhile };
}

const READS = [0, 1, 2, 3, 4, 5];

const PAIRS = READS.flatMap((first) =>
  READS.filter((second) => second > first).map((second) => [first, second] as const),
);

/** The ways back, to the list of its host or to those that wait for a time. */
const WAYS_BACK: readonly (readonly [string, Outcome])[] = [
  ['put back', { kind: 'defer' }],
  ['left to wait for its retry', { kind: 'retry', reason: 'timeout', inMs: 10_000 }],
];

test.each(WAYS_BACK.flatMap(([way, outcome]) => PAIRS.map(([first, second]) => ({ first, way, second, outcome }))))(
  'a task released before reading $first and $way before reading $second keeps its mark',
  async ({ first, second, outcome }) => {
    const { frontier, forgetWhile } = await setup();
    await frontier.offer('r', [page(1)]);
    let released: ReleaseName | undefined;
    const release = async (): Promise<void> => {
      released = (await frontier.release(ROOM)).tasks.map(nameOf)[0];
    };
    const putBack = async (): Promise<void> => {
      if (released !== undefined) await frontier.settle('r', released, { outcome });
    };
    const forgotten = await forgetWhile(
      new Map([
        [first, release],
        [second, putBack],
      ]),
    );
    expect(forgotten).toEqual({ forgotten: 0, kept: 1 });
    expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 0, known: 1 });
  },
);

test.each(READS)('a retry that becomes due before reading %i keeps its mark', async (read) => {
  const { frontier, clock, forgetWhile } = await setup();
  await frontier.offer('r', [page(1), page(2)]);
  const [first, second] = (await frontier.release(ROOM)).tasks.map(nameOf);
  if (first === undefined || second === undefined) throw new Error('two were due');
  await frontier.settle('r', first, { outcome: { kind: 'retry', reason: 'timeout', inMs: 1_000 } });
  await frontier.settle('r', second, { outcome: { kind: 'defer', host: { pauseMs: 60_000, reason: 'Retry-After' } } });
  const wake = async (): Promise<void> => {
    clock.step(1_000);
    expect((await frontier.release(ROOM)).tasks, 'the host is paused').toEqual([]);
  };
  expect(await forgetWhile(new Map([[read, wake]]))).toEqual({ forgotten: 0, kept: 1 });
});

test('a URL that fails and is offered again during the forgetting keeps its new mark', async () => {
  const { frontier, runs, forgetWhile } = await setup();
  await runs.open('next', OPTIONS, 'p');
  await frontier.offer('r', [page(1)]);
  const [only] = (await frontier.release(ROOM)).tasks.map(nameOf);
  if (only === undefined) throw new Error('it was due');
  const again = async (): Promise<void> => {
    await frontier.settle('r', only, { outcome: { kind: 'failed', reason: 'http_4xx' } });
    expect(await frontier.offer('next', [page(1)])).toEqual({ accepted: 1, known: 0 });
  };
  const forgotten = await forgetWhile(new Map([[3, again]]));
  expect(forgotten.forgotten, 'of the run in which it failed').toBe(1);
  expect(await frontier.offer('next', [page(1)]), 'its task waits').toEqual({ accepted: 0, known: 1 });
});

test('a task redirected to another host keeps its mark when its own host is forgotten', async () => {
  const { frontier, forgetWhile } = await setup();
  await frontier.offer('r', [page(1)]);
  const [only] = (await frontier.release(ROOM)).tasks;
  if (only === undefined) throw new Error('it was due');
  const moved = { ...only.task, host: 'b.test', redirects: ['http://b.test/1'] };
  await frontier.settle('r', nameOf(only), { outcome: { kind: 'defer' }, moved });
  expect(await forgetWhile(new Map(), { host: 'a.test' })).toEqual({ forgotten: 0, kept: 1 });
});

test('a second forgetting at the same time is refused, and the first one removes its log', async () => {
  const { prefix, clock, forgetWhile } = await setup();
  const second = async (): Promise<void> => {
    await expect(new RedisMarks({ redis, prefix, clock }).forget('all')).rejects.toThrow(UsageError);
  };
  const { frontier } = await setup();
  await frontier.offer('r', [page(1)]);
  await redis.sadd(`${prefix}crawled_urls`, MARK);
  await forgetWhile(new Map([[0, second]]));
  expect(await redis.exists(`${prefix}forgetting`), 'the log is gone').toBe(0);
});

test('a forgetting that died is waited for, at most a minute', async () => {
  const { prefix, clock } = await setup();
  const forget = () => new RedisMarks({ redis, prefix, clock }).forget('all');
  await redis.sadd(`${prefix}crawled_urls`, MARK);
  // Until it is ended, it would renew its log every 15 s, which a dead one doesn't.
  const dead = await MoveLog.begin(redis, prefix, new Scripts({ redis, prefix, clock }));
  onTestFinished(() => dead.end());
  await expect(forget()).rejects.toThrow('another `trawl forget` is under way, or was killed: try again in a minute');
  const leftMs = await redis.pttl(`${prefix}forgetting`);
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(60_000);
  await redis.pexpire(`${prefix}forgetting`, 1);
  await expect.poll(() => redis.exists(`${prefix}forgetting`)).toBe(0);
  expect(await forget()).toEqual({ forgotten: 1, kept: 0 });
});

test('nothing is forgotten when the log of moved tasks is lost meanwhile', async () => {
  const { frontier, prefix, forgetWhile } = await setup();
  await frontier.offer('r', [page(1)]);
  const [only] = (await frontier.release(ROOM)).tasks.map(nameOf);
  if (only === undefined) throw new Error('it was due');
  await frontier.settle('r', only, { outcome: { kind: 'done' } });
  const lose = () => redis.unlink(`${prefix}forgetting`);
  await expect(forgetWhile(new Map([[0, lose]]))).rejects.toThrow(UsageError);
  expect(await frontier.offer('r', [page(1)])).toEqual({ accepted: 0, known: 1 });
});
