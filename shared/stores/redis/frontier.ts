import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import {
  type Admission,
  type AttemptHistory,
  type AttemptNote,
  type Claims,
  type Frontier,
  type Ledger,
  LOOK_LEASE_MS,
  MAX_OFFER,
  MAX_STARTS,
  type Offer,
  type OfferOptions,
  type OfferResult,
  type Release,
  type ReleaseName,
  type ReleaseOptions,
  type Settlement,
  type SettleReply,
  type TaskState,
  takenWith,
} from '../../ports/frontier/frontier.ts';
import type { FullStore, PausedRun } from '../../ports/frontier/full-store.ts';
import type { GroupInputs, GroupOwner, GroupStanding, Groups } from '../../ports/frontier/groups.ts';
import type { MissingSteps } from '../../ports/frontier/missing-steps.ts';
import type { HandOvers, QueuedLeases } from '../../ports/frontier/queued-leases.ts';
import { FULL_FOR_OTHERS_AT, type MemoryUse } from '../../ports/frontier/store-memory.ts';
import { MAX_SLOT_WAIT_MS } from '../../ports/host-gate.ts';
import { ownerTaskOf } from '../../task/group/join-task.ts';
import { partsOf } from '../../task/parts.ts';
import type { FailedReason } from '../../task/task/outcome.ts';
import { expectOwnGroup } from '../group-offers.ts';
import { type FrontierPolicy, MOST_DRAINED, MOST_REAPED, QUEUED_PAST_TTL_MS } from '../policy.ts';
import { markOfEntry, readDamaged, readNote, readReleased, stateOf, writeOffer } from './forms/entry.ts';
import { readInputs } from './forms/group-entry.ts';
import { readKnownPage } from './forms/page-entry.ts';
import { LookLag } from './look-lag.ts';
import type { RedisMemory } from './memory-watch.ts';
import type { ScriptName } from './script-text.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';
import { writeSettlement } from './settlement.ts';

interface RedisFrontierOptions extends RedisStoreOptions {
  readonly policy: FrontierPolicy;
  /** Refuses offers while Redis is nearly full. By default, only Redis itself refuses them. */
  readonly memory?: RedisMemory;
  /** Maximum URLs that keep notes of their failed attempts, for people; by default {@link MOST_NOTED}. */
  readonly mostNoted?: number;
}

/** Only the newest notes stay: millions of failures would fill Redis with notes nobody reads. Dead letters have them too. */
const MOST_NOTED = 50_000;
/** The frontier's scripts that run for every page. */
export const CALLED_EACH_PAGE = ['admit', 'settle'] as const satisfies readonly ScriptName[];
/** Maximum releases named in one script call. */
const MOST_NAMED = 500;
/** Memory use where only Redis itself watches it. */
const NO_LIMIT: MemoryUse = { usedBytes: 0, limitBytes: 0 };
type Refusal = readonly ['refused', 'run' | 'parent'];
type Taken = readonly [accepted: number, known: number, scope: number, maxPages: number, limit: number];

/** The frontier in Redis: each method is one script of `stores/redis/lua`, which holds the rules. */
export class RedisFrontier
  implements Frontier, AttemptHistory, Claims, FullStore, Groups, QueuedLeases, HandOvers, Ledger, MissingSteps
{
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #policy: FrontierPolicy;
  readonly #memory: RedisMemory | undefined;
  readonly #scripts: Scripts;
  readonly #mostNoted: number;
  /** Identifies this frontier's offers, together with their number. */
  readonly #id = randomBytes(6).toString('hex');
  #offers = 0;
  readonly #lag = new LookLag();
  readonly #time: () => number;

  constructor({ redis, prefix, policy, memory, clock, mostNoted = MOST_NOTED }: RedisFrontierOptions) {
    this.#mostNoted = mostNoted;
    this.#redis = redis;
    this.#prefix = prefix;
    this.#policy = policy;
    this.#memory = memory;
    this.#time = () => (clock ?? performance).now();
    this.#scripts = new Scripts({ redis, prefix, clock, joined: CALLED_EACH_PAGE });
  }

  async offer(run: string, tasks: readonly Offer[], options: OfferOptions = {}): Promise<OfferResult> {
    if (tasks.length > MAX_OFFER)
      throw new RangeError(`expected at most ${MAX_OFFER} tasks in one offer, got ${tasks.length}`);
    if (tasks.length === 0) return { accepted: 0, known: 0 };
    expectOwnGroup(tasks, options);
    if (await this.#memory?.isFull(options.parent === undefined || options.leavesRoom === true ? 'producer' : 'worker'))
      return { refused: 'full' };
    try {
      const reply = await this.#scripts.run(
        'offer',
        run,
        `${this.#id}:${++this.#offers}`,
        JSON.stringify(options),
        ...tasks.map(writeOffer),
      );
      const [first, second, scope = 0, maxPages = 0, limit = 0] = reply as Taken | Refusal;
      if (first === 'refused') return { refused: second as 'run' | 'parent' };
      return takenWith(first, second as number, { scope, maxPages, limit });
    } catch (error: unknown) {
      if (error instanceof Error && error.message.startsWith('OOM')) return { refused: 'full' };
      throw error;
    }
  }

  async release({ limit, window, unpaced, looker = '' }: ReleaseOptions): Promise<Release> {
    const { hostConcurrency, giveUpMs } = this.#policy;
    const policy = [hostConcurrency, giveUpMs] as const;
    const looking = [looker, LOOK_LEASE_MS, this.#lag.ms] as const;
    const { usedBytes, limitBytes } = (await this.#memory?.recent()) ?? NO_LIMIT;
    const memory = [usedBytes, limitBytes] as const;
    const asked = this.#time();
    const reply = await this.#scripts.run('release', limit, window, unpaced ? 1 : 0, ...policy, ...looking, ...memory);
    this.#lag.took(this.#time() - asked);
    const [nextLook, time, ...entries] = reply as string[];
    const [nextLookMs, now] = [Number(nextLook), Number(time)];
    if (entries[0] === 'left') return { tasks: [], nextLookMs, now, isLeftToOther: true };
    const damaged = entries.flatMap((entry) => readDamaged(entry) ?? []);
    if (damaged.length === 0) return { tasks: entries.map(readReleased), nextLookMs, now };
    const tasks = entries.filter((entry) => readDamaged(entry) === undefined);
    return { tasks: tasks.map(readReleased), nextLookMs, now, damaged };
  }

  async queued(run: string, releases: readonly ReleaseName[]): Promise<void> {
    const { priorityTtlMs, normalTtlMs } = this.#policy;
    const leases = [priorityTtlMs + QUEUED_PAST_TTL_MS, normalTtlMs + QUEUED_PAST_TTL_MS];
    await forAll(releases, (names) => this.#scripts.run('queued', run, ...leases, ...names));
  }

  async admit(run: string, { release, mark }: ReleaseName, worker: string): Promise<Admission> {
    const reply = await this.#scripts.run('admit', run, release, mark, worker, MAX_SLOT_WAIT_MS, MAX_STARTS);
    const [answer = '', ...page] = Array.isArray(reply) ? (reply as string[]) : [reply as string];
    const [verdict, ...parts] = answer.split(' ') as [Admission['verdict'], ...string[]];
    const [answersOthers, pausedMs, incarnation = ''] = parts.slice(-3);
    if (verdict === 'work') {
      const known = readKnownPage(page);
      const host = { answersOthers: answersOthers === '1', pausedMs: Number(pausedMs) };
      const admission = { verdict, incarnation, state: stateOf(...parts), ...host };
      return known === undefined ? admission : { ...admission, known };
    }
    if (verdict === 'deadline' || verdict === 'crash_loop') return { verdict, incarnation, state: stateOf(...parts) };
    return { verdict };
  }

  async renew(run: string, releases: readonly ReleaseName[]): Promise<void> {
    await forAll(releases, (names) => this.#scripts.run('renew', run, ...names));
  }

  async settle(run: string, { release, mark }: ReleaseName, settlement: Settlement): Promise<SettleReply> {
    const told = writeSettlement(settlement);
    return (await this.#scripts.run('settle', run, release, mark, told, this.#mostNoted)) as SettleReply;
  }

  async pauseStuck(): Promise<readonly PausedRun[]> {
    const { usedBytes, limitBytes } = (await this.#memory?.recent()) ?? NO_LIMIT;
    if (limitBytes === 0 || usedBytes < limitBytes * FULL_FOR_OTHERS_AT) return [];
    const reply = (await this.#scripts.run('pause_stuck', usedBytes, limitBytes)) as string[];
    return [...partsOf(reply, 2)].map(([run = '', reason = '']) => ({ run, reason }));
  }

  async fail(run: string, releases: readonly ReleaseName[], reason: FailedReason): Promise<void> {
    await forAll(releases, (names) => this.#scripts.run('fail', run, reason, ...names));
  }

  async reap(): Promise<number> {
    return (await this.#scripts.run('reap', MOST_REAPED)) as number;
  }

  async drain(): Promise<number> {
    return (await this.#scripts.run('drain', MOST_DRAINED)) as number;
  }

  async endQueued(run: string, from = '0'): Promise<{ ended: number; next: string | undefined }> {
    const [next, ended] = (await this.#scripts.run('end_queued', run, from, MOST_REAPED)) as [string, number];
    return { ended, next: next === '0' ? undefined : next };
  }

  async handed(run: string, releases: readonly ReleaseName[]): Promise<void> {
    await forAll(releases, (names) => this.#scripts.run('handed', run, ...names));
  }

  async missing(run: string, { release, mark }: ReleaseName): Promise<{ forMs: number; state: TaskState } | undefined> {
    const reply = (await this.#scripts.run('missing', run, release, mark)) as string;
    if (reply === '') return undefined;
    const [forMs, ...parts] = reply.split(' ');
    return { forMs: Number(forMs), state: stateOf(...parts) };
  }

  async claim(run: string, { release, mark: own }: ReleaseName, mark: string): Promise<'claimed' | 'taken' | 'stale'> {
    return (await this.#scripts.run('claim', run, release, own, mark, 'take')) as 'claimed' | 'taken' | 'stale';
  }

  async isTaken(run: string, { release, mark: own }: ReleaseName, mark: string): Promise<boolean> {
    return (await this.#scripts.run('claim', run, release, own, mark, 'look')) === 'taken';
  }

  async inputs(run: string, { release, mark }: ReleaseName): Promise<GroupInputs | 'stale'> {
    const reply = await this.#scripts.run('inputs', run, release, mark);
    return readInputs(reply as readonly (string | number)[]);
  }

  async group(run: string, group: string): Promise<GroupStanding | undefined> {
    const [open, left] = await this.#redis.hmget(`${this.#prefix}run:${run}:group:${group}`, 'open', 'left');
    return open ? { open: Number(open), joins: Number(left ?? 0) } : undefined;
  }

  async owner(run: string, group: string): Promise<GroupOwner | undefined> {
    const key = `${this.#prefix}run:${run}:group:${group}:inputs`;
    const [owner, claimed] = await this.#redis.hmget(key, '@owner', '@claimed');
    const task = ownerTaskOf(owner ?? '', { run, queue: 'normal' });
    return task === undefined ? undefined : { task, ...(claimed ? { claimed } : {}) };
  }

  async markOf(run: string, release: number): Promise<string | undefined> {
    const entry = await this.#redis.hget(`${this.#prefix}run:${run}:inflight`, String(release));
    return entry === null ? undefined : markOfEntry(entry);
  }

  async attempts(mark: string): Promise<readonly AttemptNote[]> {
    const notes = await this.#redis.lrange(`${this.#prefix}attempts:${mark}`, 0, -1);
    return notes.map(readNote).filter((note) => note !== undefined);
  }
}

/** Calls a script with some releases at a time: few enough for one command, and to hold Redis only for a moment. */
async function forAll(
  releases: readonly ReleaseName[],
  run: (names: readonly (string | number)[]) => Promise<unknown>,
): Promise<void> {
  for (const some of partsOf(releases, MOST_NAMED)) await run(some.flatMap(({ release, mark }) => [release, mark]));
}
