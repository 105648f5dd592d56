import type { Redis } from 'ioredis';
import type { Clock } from '../../clock.ts';
import {
  type Admission,
  type AttemptHistory,
  type AttemptNote,
  type Claims,
  type Frontier,
  type HandOvers,
  MAX_OFFER,
  MAX_STARTS,
  type Offer,
  type OfferOptions,
  type OfferResult,
  type QueuedLeases,
  type Release,
  type ReleaseOptions,
  type Settlement,
} from '../../frontier.ts';
import { MAX_HOLD_MS } from '../../host-gate.ts';
import { type FrontierPolicy, MOST_DRAINED, MOST_REAPED, THROTTLES_BEFORE_TAIL } from '../policy.ts';
import { readNote, readReleased, stateOf, writeOffer } from './entry.ts';
import type { RedisMemory } from './memory-watch.ts';
import { readKnownPage } from './page-entry.ts';
import { Scripts } from './scripts.ts';
import { flatten } from './settlement.ts';

interface RedisFrontierOptions {
  readonly redis: Redis;
  readonly prefix: string;
  readonly policy: FrontierPolicy;
  /** Refuses offers while Redis is nearly full. Left out, only Redis itself does. */
  readonly memory?: RedisMemory;
  /** See {@link Scripts}. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** The frontier in Redis: each method is one script of `frontiers/lua`, where the rules stand. */
export class RedisFrontier implements Frontier, AttemptHistory, Claims, QueuedLeases, HandOvers {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #policy: FrontierPolicy;
  readonly #memory: RedisMemory | undefined;
  readonly #scripts: Scripts;

  constructor({ redis, prefix, policy, memory, clock }: RedisFrontierOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#policy = policy;
    this.#memory = memory;
    this.#scripts = new Scripts(redis, prefix, clock);
  }

  async offer(run: string, tasks: readonly Offer[], options: OfferOptions = {}): Promise<OfferResult> {
    if (tasks.length > MAX_OFFER)
      throw new RangeError(`expected at most ${MAX_OFFER} tasks in one offer, got ${tasks.length}`);
    if (tasks.length === 0) return { accepted: 0, known: 0 };
    if (await this.#memory?.isFull(options.parent === undefined ? 'producer' : 'worker')) return { refused: 'full' };
    try {
      const reply = await this.#scripts.run(
        'offer',
        run,
        options.parent ?? '',
        options.repeat === true ? 1 : 0,
        options.most ?? '',
        ...tasks.map(writeOffer),
      );
      const [first, second, beyond] = reply as [number, number, number] | ['refused', 'run' | 'parent'];
      if (first === 'refused') return { refused: second as 'run' | 'parent' };
      const taken = { accepted: first, known: second as number };
      return beyond === undefined || beyond === 0 ? taken : { ...taken, beyond };
    } catch (error: unknown) {
      if (error instanceof Error && error.message.startsWith('OOM')) return { refused: 'full' };
      throw error;
    }
  }

  async release({ limit, window, unpaced }: ReleaseOptions): Promise<Release> {
    const { hostConcurrency, giveUpMs } = this.#policy;
    const reply = await this.#scripts.run('release', limit, window, unpaced ? 1 : 0, hostConcurrency, giveUpMs);
    const [nextLook, ...entries] = reply as string[];
    return { tasks: entries.map(readReleased), nextLookMs: Number(nextLook) };
  }

  async queued(run: string, releases: readonly number[]): Promise<void> {
    if (releases.length === 0) return;
    const { priorityTtlMs, normalTtlMs } = this.#policy;
    await this.#scripts.run('queued', run, priorityTtlMs + 300_000, normalTtlMs + 300_000, ...releases);
  }

  async admit(run: string, release: number, worker: string): Promise<Admission> {
    const reply = await this.#scripts.run('admit', run, release, worker, MAX_HOLD_MS, MAX_STARTS);
    const [answer = '', ...page] = Array.isArray(reply) ? (reply as string[]) : [reply as string];
    const [verdict, ...numbers] = answer.split(' ') as [Admission['verdict'], ...string[]];
    if (verdict === 'work') {
      const known = readKnownPage(page);
      const admission = { verdict, state: stateOf(...numbers), pausedMs: Number(numbers.at(-1)) };
      return known === undefined ? admission : { ...admission, known };
    }
    if (verdict === 'deadline' || verdict === 'crash_loop') return { verdict, state: stateOf(...numbers) };
    return { verdict };
  }

  async renew(run: string, releases: readonly number[]): Promise<void> {
    if (releases.length > 0) await this.#scripts.run('renew', run, ...releases);
  }

  async settle(run: string, release: number, settlement: Settlement): Promise<'settled' | 'already'> {
    const reply = await this.#scripts.run('settle', run, release, ...flatten(settlement), THROTTLES_BEFORE_TAIL);
    return reply as 'settled' | 'already';
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

  async handed(run: string, releases: readonly number[]): Promise<void> {
    if (releases.length > 0) await this.#scripts.run('handed', run, ...releases);
  }

  async claim(run: string, release: number, mark: string): Promise<'claimed' | 'taken' | 'stale'> {
    return (await this.#scripts.run('claim', run, release, mark)) as 'claimed' | 'taken' | 'stale';
  }

  async attempts(mark: string): Promise<readonly AttemptNote[]> {
    const notes = await this.#redis.lrange(`${this.#prefix}attempts:${mark}`, 0, -1);
    return notes.map(readNote).filter((note) => note !== undefined);
  }
}
