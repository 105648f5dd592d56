import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { RedisHostGate } from '../../shared/stores/redis/host-gate.ts';
import { withMethods } from '../support/with-methods.ts';

const redis = new Redis(inject('redisUrl'));
afterAll(() => redis.disconnect());

const ONE_PLACE = { intervalMs: 0, concurrency: 1 };

function setup() {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  onTestFinished(async () => {
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
  });
  const seen = { scripts: 0 };
  const counting = withMethods(redis, {
    evalsha: (async (...args: Parameters<Redis['evalsha']>) => {
      seen.scripts++;
      return await redis.evalsha(...args);
    }) as Redis['evalsha'],
  });
  return { gate: new RedisHostGate({ redis: counting, prefix }), prefix, seen };
}

test('calls of one turn of the event loop share one script, and each gets its own reply', async () => {
  const { gate, seen } = setup();
  const hosts = ['a.test', 'b.test', 'a.test'];
  const grants = await Promise.all(hosts.map((host, at) => gate.ask(host, ONE_PLACE, `request ${at}`)));
  expect(grants.map(({ granted }) => granted)).toEqual([true, true, false]);
  expect(seen.scripts).toBe(1);
});

test('joined calls run in order, even around a call that runs alone', async () => {
  const { gate, seen } = setup();
  // Redis must know the scripts already: an unknown one is sent again and would run later.
  await Promise.all(['a.test', 'b.test'].map((host) => gate.ask(host, ONE_PLACE, 'first')));
  await gate.ask('b.test', ONE_PLACE, 'alone');
  await gate.pause('b.test', 1, 'a test');
  seen.scripts = 0;
  const refused = gate.ask('a.test', ONE_PLACE, 'too soon');
  const leaving = gate.leave('a.test', ONE_PLACE, 'first');
  const granted = gate.ask('a.test', ONE_PLACE, 'second');
  const pausing = gate.pause('a.test', 60_000, 'a test');
  const paused = gate.ask('a.test', ONE_PLACE, 'third');
  await Promise.all([leaving, pausing]);
  expect([await refused, await granted, await paused]).toMatchObject([
    { granted: false, because: 'concurrency' },
    { granted: true },
    { granted: false, because: 'pause' },
  ]);
  expect(seen.scripts, 'three joined · the pause · third').toBe(3);
});

test('a joined call that fails reports its error and does not stop the others', async () => {
  const { gate, prefix } = setup();
  await redis.set(`${prefix}ratelimit:bad.test`, 'no hash');
  const results = await Promise.allSettled(
    ['a.test', 'bad.test', 'b.test'].map((host) => gate.ask(host, ONE_PLACE, 'request')),
  );
  expect(results).toMatchObject([
    { status: 'fulfilled', value: { granted: true } },
    { status: 'rejected', reason: { message: expect.stringContaining('WRONGTYPE') } },
    { status: 'fulfilled', value: { granted: true } },
  ]);
});

test('a script joins 16 calls at most, and is sent again once Redis has forgotten it', async () => {
  const { gate, seen } = setup();
  const askAll = (turn: number) =>
    Promise.all(Array.from({ length: 40 }, (_, n) => gate.ask(`h${n}.test`, ONE_PLACE, `${turn}`)));
  expect((await askAll(1)).every(({ granted }) => granted)).toBe(true);
  expect(seen.scripts).toBe(3);
  await redis.script('FLUSH');
  expect((await askAll(2)).every(({ granted }) => !granted)).toBe(true);
  expect(seen.scripts).toBe(6);
});
