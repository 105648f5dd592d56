import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { RedisHostGate } from '../../shared/stores/redis/host-gate.ts';
import { SteppedClock } from '../support/stores/stepped-clock.ts';
import { openSqliteStore, redisStores } from '../support/stores/stores.ts';
import { describeHostGate } from './suites/hosts/host-gate.contract.ts';
import { describeHostPauses } from './suites/hosts/host-pauses.contract.ts';

for (const contract of [describeHostGate, describeHostPauses]) {
  contract('in SQLite', openSqliteStore);
  const stores = redisStores(inject('redisUrl'));
  contract('in Redis', stores.open, stores.close);
}

test('Redis: the gates of two processes never grant the same slot twice', async () => {
  const prefix = `t${randomBytes(6).toString('hex')}:`;
  const clock = new SteppedClock();
  const connections = [new Redis(inject('redisUrl')), new Redis(inject('redisUrl'))];
  onTestFinished(async () => {
    await connections[0]?.unlink(`${prefix}ratelimit:a.test`);
    for (const redis of connections) redis.disconnect();
  });
  const gates = connections.map((redis) => new RedisHostGate({ redis, prefix, clock }));
  const limit = { intervalMs: 6, concurrency: 0 };
  const grants = await Promise.all(
    Array.from({ length: 40 }, (_, i) => gates[i % 2]?.ask('a.test', limit, `request ${i}`)),
  );
  expect(grants.map((grant) => grant?.inMs ?? Number.NaN).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 40 }, (_, i) => i * 6),
  );
});

test('Redis: the gate rejects while the connection is closed, so that no request gets through', async () => {
  const redis = new Redis(inject('redisUrl'));
  const gate = new RedisHostGate({ redis, prefix: `t${randomBytes(6).toString('hex')}:` });
  redis.disconnect();
  await expect(gate.ask('a.test', { intervalMs: 0, concurrency: 1 }, 'request')).rejects.toThrow('closed');
  await expect(gate.stillOpen('a.test')).rejects.toThrow('closed');
});
