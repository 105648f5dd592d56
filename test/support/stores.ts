import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Biographer } from '../../shared/biographer.ts';
import type { Claims, Frontier, HandOvers, QueuedLeases } from '../../shared/frontier.ts';
import { MemoryBiographer } from '../../shared/frontiers/memory/biographer.ts';
import { MemoryFrontier } from '../../shared/frontiers/memory/frontier.ts';
import { MemoryHostOverview } from '../../shared/frontiers/memory/host-overview.ts';
import { MemoryHosts } from '../../shared/frontiers/memory/hosts.ts';
import { MemoryMarks } from '../../shared/frontiers/memory/marks.ts';
import { MemoryRuns } from '../../shared/frontiers/memory/runs.ts';
import { MemoryStore } from '../../shared/frontiers/memory/store.ts';
import type { FrontierPolicy } from '../../shared/frontiers/policy.ts';
import { RedisBiographer } from '../../shared/frontiers/redis/biographer.ts';
import { RedisFrontier } from '../../shared/frontiers/redis/frontier.ts';
import { RedisHostOverview } from '../../shared/frontiers/redis/host-overview.ts';
import { RedisMarks } from '../../shared/frontiers/redis/marks.ts';
import type { MarksForm } from '../../shared/frontiers/redis/marks-form.ts';
import { RedisRuns } from '../../shared/frontiers/redis/runs.ts';
import type { HostGate } from '../../shared/host-gate.ts';
import { MemoryHostGate } from '../../shared/host-gates/memory.ts';
import { RedisHostGate } from '../../shared/host-gates/redis.ts';
import type { HostOverview } from '../../shared/host-overview.ts';
import type { Marks } from '../../shared/marks.ts';
import type { Runs } from '../../shared/runs.ts';
import { SteppedClock } from './stepped-clock.ts';

/** A frontier with what belongs to it, on a clock that the test steps. */
export interface Store {
  readonly frontier: Frontier & Claims & QueuedLeases & HandOvers;
  readonly runs: Runs;
  readonly gate: HostGate;
  readonly hosts: HostOverview;
  readonly marks: Marks;
  readonly biographer: Biographer;
  step(ms: number): void;
  now(): number;
  close(): Promise<void>;
}

export type OpenStore = (policy?: Partial<FrontierPolicy>) => Promise<Store>;

export const POLICY: FrontierPolicy = {
  hostConcurrency: 2,
  giveUpMs: 600_000,
  priorityTtlMs: 1_800_000,
  normalTtlMs: 3_600_000,
};

export const openMemoryStore: OpenStore = async (policy) => {
  const clock = new SteppedClock();
  const hosts = new MemoryHosts();
  const store = new MemoryStore(hosts);
  return {
    frontier: new MemoryFrontier({ store, policy: { ...POLICY, ...policy }, clock }),
    runs: new MemoryRuns({ store, clock }),
    gate: new MemoryHostGate({ hosts, clock }),
    hosts: new MemoryHostOverview({ store, clock }),
    marks: new MemoryMarks({ store }),
    biographer: new MemoryBiographer({ store, clock }),
    step: (ms) => clock.step(ms),
    now: () => clock.now(),
    close: async () => {},
  };
};

/** One connection for all stores of a suite; each store has a key prefix of its own, so that tests can share a Redis. */
export function redisStores(
  url: string,
  marks: MarksForm = 'exact',
): { readonly open: OpenStore; readonly redis: Redis; close(): Promise<void> } {
  const redis = new Redis(url);
  return {
    redis,
    open: async (policy) => {
      const prefix = `t${randomBytes(6).toString('hex')}:`;
      const clock = new SteppedClock();
      return {
        frontier: new RedisFrontier({ redis, prefix, policy: { ...POLICY, ...policy }, clock }),
        runs: new RedisRuns({ redis, prefix, marks, clock }),
        gate: new RedisHostGate({ redis, prefix, clock }),
        hosts: new RedisHostOverview({ redis, prefix, clock }),
        marks: new RedisMarks({ redis, prefix }),
        biographer: new RedisBiographer({ redis, prefix, clock }),
        step: (ms) => clock.step(ms),
        now: () => clock.now(),
        close: async () => {
          const keys = await redis.keys(`${prefix}*`);
          if (keys.length > 0) await redis.unlink(...keys);
        },
      };
    },
    close: async () => {
      redis.disconnect();
    },
  };
}
