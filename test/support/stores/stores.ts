import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Biographer } from '../../../shared/ports/biographer.ts';
import type { AttemptHistory, Claims, Frontier, Ledger } from '../../../shared/ports/frontier/frontier.ts';
import type { Groups } from '../../../shared/ports/frontier/groups.ts';
import type { MissingSteps } from '../../../shared/ports/frontier/missing-steps.ts';
import type { HandOvers, QueuedLeases } from '../../../shared/ports/frontier/queued-leases.ts';
import type { HostGate, HostLimits } from '../../../shared/ports/host-gate.ts';
import type { HostOverview } from '../../../shared/ports/host-overview.ts';
import type { Marks } from '../../../shared/ports/marks.ts';
import type { RunOverview } from '../../../shared/ports/run-overview.ts';
import type { OpenedRun, Runs } from '../../../shared/ports/runs.ts';
import type { FrontierPolicy } from '../../../shared/stores/policy.ts';
import { RedisBiographer } from '../../../shared/stores/redis/biographer.ts';
import type { MarksForm } from '../../../shared/stores/redis/forms/marks-form.ts';
import { RedisFrontier } from '../../../shared/stores/redis/frontier.ts';
import { RedisHostGate } from '../../../shared/stores/redis/host-gate.ts';
import { RedisHostOverview } from '../../../shared/stores/redis/host-overview.ts';
import { RedisMarks } from '../../../shared/stores/redis/marks.ts';
import { RedisRuns } from '../../../shared/stores/redis/runs.ts';
import { IN_MEMORY } from '../../../shared/stores/sqlite/database/sqlite-file.ts';
import { SqliteRuns } from '../../../shared/stores/sqlite/runs.ts';
import { SteadyClock } from '../../../shared/stores/sqlite/steady-clock.ts';
import { POLICY } from '../policy.ts';
import { openLocalParts } from './local-parts.ts';
import { NumberedFrontier } from './numbered-frontier.ts';
import { SteppedClock } from './stepped-clock.ts';

/** A frontier with its companion stores, on a clock that the test steps. */
export interface Store {
  /** The frontier itself; `frontier` is the same one with numbered releases. */
  readonly port: Frontier & AttemptHistory & Claims & Groups & QueuedLeases & HandOvers & Ledger & MissingSteps;
  readonly frontier: NumberedFrontier;
  readonly runs: Runs & RunOverview;
  readonly gate: HostGate & HostLimits;
  readonly hosts: HostOverview;
  readonly marks: Marks;
  readonly biographer: Biographer;
  step(ms: number): void;
  now(): number;
  close(): Promise<void>;
}

export type OpenStore = (policy?: Partial<FrontierPolicy>) => Promise<Store>;

/** Returns a source of incarnations that are the same in all stores after the same calls. */
export function counted(): () => string {
  let count = 0;
  return () => `incarnation-${++count}`;
}

/** Opens a store in memory. */
export const openSqliteStore: OpenStore = async (policy) => await openSqliteIn(IN_MEMORY, policy);

/** Opens a store in a file, like that of a crawl. */
export const openSqliteFile: OpenStore = async (policy) => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-store-'));
  const store = await openSqliteIn(join(folder, 'trawl.sqlite'), policy);
  return {
    ...store,
    close: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
};

async function openSqliteIn(path: string, policy: Parameters<OpenStore>[0]): Promise<Store> {
  const stepped = new SteppedClock();
  const clock = new SteadyClock(stepped);
  const {
    frontier: port,
    store,
    database,
    ...parts
  } = openLocalParts({
    clock,
    path,
    policy,
    incarnations: counted(),
  });
  class OwningRuns extends SqliteRuns {
    override async open(...opened: Parameters<SqliteRuns['open']>): Promise<OpenedRun> {
      store.owned?.add(opened[0]);
      return await super.open(...opened);
    }
  }
  return {
    ...parts,
    port,
    frontier: new NumberedFrontier(port),
    runs: store.owned === undefined ? parts.runs : new OwningRuns({ store, incarnations: counted() }),
    step: (ms) => stepped.step(ms),
    now: () => stepped.now(),
    close: async () => database.close(),
  };
}

/** Opens one connection for all stores of a suite. Each store has its own key prefix, so that tests can share a Redis. */
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
