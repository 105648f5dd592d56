import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { MAX_OFFER, nameOf, type Offer } from '../../shared/ports/frontier/frontier.ts';
import { ConfigurationError } from '../../shared/runtime/errors.ts';
import { RedisBiographer } from '../../shared/stores/redis/biographer.ts';
import type { MarksForm } from '../../shared/stores/redis/forms/marks-form.ts';
import { RedisFrontier } from '../../shared/stores/redis/frontier.ts';
import { RedisMarks } from '../../shared/stores/redis/marks.ts';
import { RedisRuns } from '../../shared/stores/redis/runs.ts';
import { FAST_RUN } from '../support/builders.ts';
import { offerAll } from '../support/stores/offer-all.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

const POLICY = { hostConcurrency: 0, giveUpMs: 60_000, priorityTtlMs: 60_000, normalTtlMs: 60_000 };
const EVER = { ...FAST_RUN, dedup: 'ever' } as const;
const ROOM = { limit: 1_000, window: 100_000, unpaced: false };

function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  onTestFinished(async () => {
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
  });
  const runsWith = (marks: MarksForm) => new RedisRuns({ redis, prefix, marks });
  return { prefix, runsWith, frontier: new RedisFrontier({ redis, prefix, policy: POLICY }) };
}

function pages(from: number, count: number): Offer[] {
  return Array.from({ length: count }, (_, i) => {
    const url = `http://host-${(from + i) % 50}.test/a/page/with/a/path/of/some/length/${from + i}`;
    return { url, mark: url, host: new URL(url).host, step: '', depth: 0, queue: 'normal' };
  });
}

/** Returns the bytes that Redis needs for the marks, keys included. */
async function bytesOfMarks(prefix: string): Promise<number> {
  const keys = await redis.keys(`${prefix}crawled_urls*`);
  const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)));
  return sizes.reduce<number>((sum, size) => sum + Number(size), 0);
}

describe('compact marks', () => {
  test('50 000 URLs are taken once each and need less than 16 bytes each, in sets that stay small', async () => {
    const { prefix, runsWith, frontier } = setup();
    await runsWith('compact').open('r', EVER, 'p');
    const urls = 50_000;
    for (let n = 0; n < urls; n += MAX_OFFER) {
      expect(await frontier.offer('r', pages(n, MAX_OFFER))).toEqual({ accepted: MAX_OFFER, known: 0 });
    }
    for (let n = 0; n < urls; n += MAX_OFFER) {
      expect(await frontier.offer('r', pages(n, MAX_OFFER))).toEqual({ accepted: 0, known: MAX_OFFER });
    }
    expect(await redis.hgetall(`${prefix}crawled_urls:compact`)).toEqual({ shards: '250', members: String(urls) });
    expect(await redis.exists(`${prefix}crawled_urls`)).toBe(0);
    const shards = await redis.keys(`${prefix}crawled_urls:[0-9]*`);
    const encodings = await Promise.all(shards.map((key) => redis.object('ENCODING', key)));
    expect(new Set(encodings)).toEqual(new Set(['intset']));
    expect((await bytesOfMarks(prefix)) / urls).toBeLessThan(16);
  });

  test('marks that are freed and taken again are counted correctly and found while shards split', async () => {
    const { prefix, runsWith, frontier } = setup();
    const runs = runsWith('compact');
    await runs.open('r', EVER, 'p');
    await offerAll(frontier, 'r', pages(0, 1_000));
    const { tasks } = await frontier.release({ ...ROOM, limit: 300 });
    for (const task of tasks) {
      await frontier.settle('r', nameOf(task), { outcome: { kind: 'failed', reason: 'http_4xx' } });
    }
    expect(await redis.hget(`${prefix}crawled_urls:compact`, 'members')).toBe('700');
    expect(await offerAll(frontier, 'r', pages(0, 1_000)), 'failed ones are not taken again').toMatchObject({
      accepted: 0,
    });
    await runs.cancel('r');
    let drained = 0;
    for (let some = await frontier.drain(); some > 0; some = await frontier.drain()) drained += some;
    expect(drained).toBe(700);
    expect(await redis.hget(`${prefix}crawled_urls:compact`, 'members')).toBe('0');
    expect(await redis.keys(`${prefix}crawled_urls:[0-9]*`)).toEqual([]);
    await runs.open('next', EVER, 'p');
    for (let n = 0; n < 10; n++) await offerAll(frontier, 'next', pages(n * 500, 1_000));
    expect(await redis.hget(`${prefix}crawled_urls:compact`, 'members')).toBe('5500');
  });

  test.each([
    ['exact', 'compact'],
    ['compact', 'exact'],
  ] as const)(
    'with %s marks in Redis, a process that expects %s ones is refused with an explanation',
    async (form, other) => {
      const { runsWith, frontier } = setup();
      await runsWith(form).open('r', EVER, 'p');
      await expect(runsWith(other).checkMarks(), 'nothing is known yet: it can be changed').resolves.toBeUndefined();
      await runsWith(form).checkMarks();
      await frontier.offer('r', pages(0, 10));
      const failures = [runsWith(other).checkMarks(), runsWith(other).open('s', EVER, 'p')].map((asked) =>
        asked.catch((error: unknown) => error),
      );
      for (const failure of await Promise.all(failures)) {
        expect(failure).toBeInstanceOf(ConfigurationError);
        expect(String(failure)).toContain(`expected DEDUP to be ${form}, as the marks in this Redis are, got ${other}`);
      }
      expect(await runsWith(form).progress('s')).toBeUndefined();
    },
  );

  test('one mark is forgotten unless its task waits; all are once no run is open; those of a host never are', async () => {
    const { prefix, runsWith, frontier } = setup();
    const [runs, marks] = [runsWith('compact'), new RedisMarks({ redis, prefix })];
    const biographer = new RedisBiographer({ redis, prefix });
    const offers = pages(0, 1_000);
    const urls = offers.map((offer) => ('url' in offer ? offer.url : ''));
    await runs.open('r', EVER, 'p');
    await offerAll(frontier, 'r', offers);
    const { tasks } = await frontier.release({ ...ROOM, limit: 1 });
    for (const task of tasks) await frontier.settle('r', nameOf(task), { outcome: { kind: 'done' } });
    const done = tasks[0]?.task.url ?? '';
    const waiting = urls.find((url) => url !== done) ?? '';
    for (const how of [{ isDry: true }, {}])
      expect(await marks.forget({ mark: waiting }, how)).toEqual({ forgotten: 0, kept: 1 });
    expect(await marks.forget({ mark: done }, { isDry: true })).toEqual({ forgotten: 1, kept: 0 });
    expect([await biographer.isKnown(done), await marks.forget({ mark: done })]).toEqual([
      true,
      { forgotten: 1, kept: 0 },
    ]);
    expect([await biographer.isKnown(done), await marks.forget({ mark: done })]).toEqual([
      false,
      { forgotten: 0, kept: 0 },
    ]);
    await expect(marks.forget({ host: 'host-1.test' })).rejects.toThrow(/digests without a host/);
    for (const how of [{ isDry: true }, {}])
      await expect(marks.forget('all', how)).rejects.toThrow(/when no run is open; r is/);
    await runs.seal('r', 'p');
    for (;;) {
      const released = await frontier.release({ ...ROOM, limit: 500 });
      if (released.tasks.length === 0) break;
      for (const task of released.tasks) await frontier.settle('r', nameOf(task), { outcome: { kind: 'done' } });
    }
    for (const how of [{ isDry: true }, {}])
      expect(await marks.forget('all', how)).toEqual({ forgotten: 999, kept: 0 });
    expect(await redis.hgetall(`${prefix}crawled_urls:compact`)).toEqual({ shards: '1', members: '0' });
    expect(await redis.keys(`${prefix}crawled_urls:[0-9]*`)).toEqual([]);
  });

  test('a run with its own marks keeps them in full, not compact', async () => {
    const { prefix, runsWith, frontier } = setup();
    await runsWith('compact').open('r', { ...EVER, dedup: 'run' }, 'p');
    await frontier.offer('r', pages(0, 10));
    expect(await redis.scard(`${prefix}run:r:seen`)).toBe(10);
    expect(await redis.hgetall(`${prefix}crawled_urls:compact`)).toEqual({ shards: '1' });
  });
});
