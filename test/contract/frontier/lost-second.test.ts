import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { nameOf } from '../../../shared/ports/frontier/frontier.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { POLICY } from '../../support/policy.ts';
import { SteppedClock } from '../../support/stores/stepped-clock.ts';
import { OPTIONS, page, pages, ROOM } from '../suites/frontier/frontier-setup.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

/** Opens a frontier in a Redis that can lose its last writes, as in a power cut. */
async function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const clock = new SteppedClock();
  const keys = (): Promise<string[]> => redis.keys(`${prefix}*`);
  onTestFinished(async () => void (await redis.unlink(...(await keys()))));
  const runs = new RedisRuns({ redis, prefix, marks: 'exact', clock });
  await runs.open('r', OPTIONS, 'p');
  return {
    clock,
    runs,
    frontier: new RedisFrontier({ redis, prefix, policy: POLICY, clock }),
    /** Saves the current state. Returns the function that restores it. */
    async synced(): Promise<() => Promise<void>> {
      const dumps = await Promise.all((await keys()).map(async (key) => [key, await redis.dumpBuffer(key)] as const));
      return async () => {
        await redis.unlink(...(await keys()));
        for (const [key, dump] of dumps) await redis.restore(key, 0, dump);
      };
    },
  };
}

test('release numbers given in a lost second are never given again', async () => {
  const { frontier, clock, synced } = await setup();
  await frontier.offer('r', pages(1, 9));
  const lose = await synced();
  const lost = (await frontier.release({ ...ROOM, limit: 5 })).tasks.map(({ release }) => release);
  clock.step(900);
  lost.push(...(await frontier.release({ ...ROOM, limit: 2 })).tasks.map(({ release }) => release));
  await lose();
  clock.step(100);
  const given = (await frontier.release(ROOM)).tasks.map(({ release }) => release);
  expect([given.length, Math.min(...given) > Math.max(...lost)]).toEqual([9, true]);
});

test('release numbers repeat if the store’s time is lost too, and the mark tells which task is meant', async () => {
  const { frontier, runs, clock, synced } = await setup();
  await frontier.offer('r', pages(1, 2));
  const lose = await synced();
  const [old] = (await frontier.release({ ...ROOM, limit: 1 })).tasks.map(nameOf);
  await lose();
  await frontier.offer('r', [page(3, 'a.test', { queue: 'priority' })]);
  const [again] = (await frontier.release({ ...ROOM, limit: 1 })).tasks.map(nameOf);
  if (old === undefined || again === undefined) throw new Error('a task was due');
  expect([old.mark, again.mark, old.release]).toEqual(['http://a.test/1', 'http://a.test/3', again.release]);
  expect(await frontier.admit('r', old, 'w')).toEqual({ verdict: 'gone' });
  expect(await frontier.settle('r', old, { outcome: { kind: 'done' } })).toBe('already');
  expect(await frontier.admit('r', again, 'w')).toMatchObject({ verdict: 'work', state: { starts: 1 } });
  expect(await frontier.settle('r', again, { outcome: { kind: 'done' } })).toBe('settled');
  clock.step(1);
  expect(await runs.progress('r')).toMatchObject({ done: 1, waiting: 2 });
});

test('a page whose links were lost with the last second is put back, and its next visit offers them again', async () => {
  const { frontier, runs, synced } = await setup();
  await frontier.offer('r', [page('list')]);
  const done = { outcome: { kind: 'done' }, hostAnswered: true } as const;
  const begin = async () => {
    const [name] = (await frontier.release({ ...ROOM, limit: 1 })).tasks.map(nameOf);
    if (name === undefined) throw new Error('the page was due');
    await frontier.admit('r', name, 'w');
    return name;
  };
  const first = await begin();
  const lose = await synced();
  const offered = frontier.offer('r', pages(1, 3), { parent: { ...first, tally: { stamp: 'a', links: 0 } } });
  expect(await offered).toEqual({ accepted: 3, known: 0 });
  await lose();
  expect(await frontier.settle('r', first, { ...done, tally: { stamp: 'a', links: 3 } })).toBe('put_back');
  expect(await runs.progress('r')).toMatchObject({ done: 0, discovered: 1, waiting: 1 });
  const second = await begin();
  const offeredAnew = frontier.offer('r', pages(1, 3), { parent: { ...second, tally: { stamp: 'b', links: 0 } } });
  expect(await offeredAnew).toEqual({ accepted: 3, known: 0 });
  expect(await frontier.settle('r', second, { ...done, tally: { stamp: 'b', links: 3 } })).toBe('settled');
  expect(await runs.progress('r')).toMatchObject({ done: 1, discovered: 4, waiting: 3 });
});
