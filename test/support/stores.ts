import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Frontier, HandOvers, QueuedLeases } from '../../shared/frontier.ts';
import { MemoryFrontier } from '../../shared/frontiers/memory/frontier.ts';
import { MemoryHosts } from '../../shared/frontiers/memory/hosts.ts';
import { MemoryRuns } from '../../shared/frontiers/memory/runs.ts';
import { MemoryStore } from '../../shared/frontiers/memory/store.ts';
import type { FrontierPolicy } from '../../shared/frontiers/policy.ts';
import { RedisFrontier } from '../../shared/frontiers/redis/frontier.ts';
import type { MarksForm } from '../../shared/frontiers/redis/marks.ts';
import { RedisRuns } from '../../shared/frontiers/redis/runs.ts';
import type { HostGate } from '../../shared/host-gate.ts';
import { MemoryHostGate } from '../../shared/host-gates/memory.ts';
import { RedisHostGate } from '../../shared/host-gates/redis.ts';
import type { Runs } from '../../shared/runs.ts';
import { SteppedClock } from './stepped-clock.ts';

/** A frontier with what belongs to it, on a clock that the test steps. */
export interface Store {
  readonly frontier: Frontier & QueuedLeases & HandOvers;
  readonly runs: Runs;
  readonly gate: HostGate;
  step(ms: number): void;
  now(): number;
  close(): Promise<void>;
}

export type OpenStore = (policy?: Partial<FrontierPolicy>) => Promise<Store>;

const POLICY: FrontierPolicy = {
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
