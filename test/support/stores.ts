import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Biographer } from '../../shared/ports/biographer.ts';
import type { Claims, Frontier, HandOvers, Ledger, QueuedLeases } from '../../shared/ports/frontier.ts';
import type { HostGate } from '../../shared/ports/host-gate.ts';
import type { HostOverview } from '../../shared/ports/host-overview.ts';
import type { Marks } from '../../shared/ports/marks.ts';
import type { RunOverview } from '../../shared/ports/run-overview.ts';
import type { Runs } from '../../shared/ports/runs.ts';
import { SteadyClock } from '../../shared/stores/memory/steady-clock.ts';
import type { FrontierPolicy } from '../../shared/stores/policy.ts';
import { RedisBiographer } from '../../shared/stores/redis/biographer.ts';
import { RedisFrontier } from '../../shared/stores/redis/frontier.ts';
import { RedisHostGate } from '../../shared/stores/redis/host-gate.ts';
import { RedisHostOverview } from '../../shared/stores/redis/host-overview.ts';
import { RedisMarks } from '../../shared/stores/redis/marks.ts';
import type { MarksForm } from '../../shared/stores/redis/marks-form.ts';
import { RedisRuns } from '../../shared/stores/redis/runs.ts';
import { openMemoryParts } from './memory-parts.ts';
import { NumberedFrontier } from './numbered-frontier.ts';
import { POLICY } from './policy.ts';
import { SteppedClock } from './stepped-clock.ts';

/** A frontier with what belongs to it, on a clock that the test steps. */
export interface Store {
  /** The frontier, and the same with releases that tests can name. */
  readonly port: Frontier & Claims & QueuedLeases & HandOvers & Ledger;
  readonly frontier: NumberedFrontier;
  readonly runs: Runs & RunOverview;
  readonly gate: HostGate;
  readonly hosts: HostOverview;
  readonly marks: Marks;
  readonly biographer: Biographer;
  step(ms: number): void;
  now(): number;
  close(): Promise<void>;
}

export type OpenStore = (policy?: Partial<FrontierPolicy>) => Promise<Store>;

/** Incarnations that are the same in every store that is asked the same. */
export function counted(): () => string {
  let count = 0;
  return () => `incarnation-${++count}`;
}

export const openMemoryStore: OpenStore = async (policy) => {
  const stepped = new SteppedClock();
  const clock = new SteadyClock(stepped);
  const { frontier: port, ...parts } = openMemoryParts({ clock, policy, incarnations: counted() });
  return {
    ...parts,
    port,
    frontier: new NumberedFrontier(port),
    step: (ms) => stepped.step(ms),
    now: () => stepped.now(),
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
      const port = new RedisFrontier({ redis, prefix, policy: { ...POLICY, ...policy }, clock });
      return {
        port,
        frontier: new NumberedFrontier(port),
        runs: new RedisRuns({ redis, prefix, marks, clock, incarnations: counted() }),
        gate: new RedisHostGate({ redis, prefix, clock }),
        hosts: new RedisHostOverview({ redis, prefix, clock }),
        marks: new RedisMarks({ redis, prefix, clock }),
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
