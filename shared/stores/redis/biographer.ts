import type { Redis } from 'ioredis';
import type { Biographer, HowToTrace, Place, TaskTrace } from '../../ports/biographer.ts';
import type { RunState } from '../../ports/runs.ts';
import { partsOf } from '../../task/parts.ts';
import { QUEUES, type Queue } from '../../task/task/routing.ts';
import { chunksOfPairs } from './chunks.ts';
import { readCircumstances } from './circumstances.ts';
import { markOfEntry, stateOf, wordsOfEntry } from './forms/entry.ts';
import { LEAVES_ROOM_FROM, NO_ROOM_FROM } from './numbers.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';

/** Entries of a list that one script call searches: about a millisecond. */
const LOOK = 1_000;
/** A task that moves during the search may be missed once or twice, but hardly three times. */
const MOST_LOOKS = 3;
/** Hosts whose lists are searched at once. */
const HOSTS_AT_ONCE = 20;
/** Maximum hosts whose lists are searched. Pages that are done are searched for as well, which in a broad crawl would cost Redis seconds. */
const MOST_HOSTS_SEARCHED = 2_000;

type WaitingPlace = Extract<Place, { at: 'waiting' }>;

/** Finds tasks in Redis: in `wait` lists, `putback`, and the ledger. */
export class RedisBiographer implements Biographer {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #scripts: Scripts;

  constructor({ redis, prefix, clock }: RedisStoreOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#scripts = new Scripts({ redis, prefix, clock });
  }

  async isKnown(mark: string): Promise<boolean> {
    return (await this.#scripts.run('known', mark)) === 1;
  }

  async trace(
    run: string,
    { mark, host }: { mark: string; host: string },
    { isQuick = false }: HowToTrace = {},
  ): Promise<TaskTrace | undefined> {
    const reply = await this.#ask(run, mark, host);
    if (reply.length === 0) return undefined;
    const [state, dedup, marked, failed, now] = reply;
    const isMarked = marked === 1;
    // In a finished run nothing waits or is in flight, and many finished runs may share this mark.
    const mayBeLive = isMarked && state !== 'finished';
    const find = isQuick ? this.#findOnce : this.#find;
    const place = mayBeLive ? await find.call(this, run, mark, host, Number(now)) : undefined;
    const isElsewhere = place?.at === 'waiting' && place.host !== undefined;
    const [, , , , , nextLookMs, ...circumstances] = isElsewhere ? await this.#ask(run, mark, place.host) : reply;
    return {
      run,
      runState: state as RunState,
      hasOwnMarks: dedup === 'run',
      isMarked,
      hasFailed: failed === 1,
      ...(place === undefined ? {} : { place }),
      host: {
        ...readCircumstances(circumstances),
        nextLookMs: Number(nextLookMs),
      },
    };
  }

  async #ask(run: string, mark: string, host: string): Promise<(string | number)[]> {
    return (await this.#scripts.run('trace', run, mark, host)) as (string | number)[];
  }

  async #find(run: string, mark: string, host: string, now: number): Promise<Place | undefined> {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const place = await this.#findOnce(run, mark, host, now);
      if (place !== undefined) return place;
    }
    return await this.#findElsewhere(run, mark, host);
  }

  async #findOnce(run: string, mark: string, host: string, now: number): Promise<Place | undefined> {
    return (
      (await this.#findInFlight(run, mark, now)) ??
      (await this.#findWaiting(run, mark, host)) ??
      (await this.#findRetry(run, mark, now))
    );
  }

  /** Searches the lists of other hosts, since redirects may have led the task to one of them. */
  async #findElsewhere(run: string, mark: string, own: string): Promise<Place | undefined> {
    let searched = 0;
    for await (const pairs of chunksOfPairs(this.#redis, `${this.#prefix}run:${run}:ready`, 'zset')) {
      const hosts = pairs.map(([host]) => host).filter((host) => host !== own);
      for (const some of partsOf(hosts, HOSTS_AT_ONCE)) {
        if (searched >= MOST_HOSTS_SEARCHED) return undefined;
        searched += some.length;
        const places = await Promise.all(some.map((host) => this.#findWaiting(run, mark, host)));
        for (const [i, place] of places.entries()) {
          const host = some[i];
          if (place !== undefined && host !== undefined) return { ...place, host };
        }
      }
    }
    return undefined;
  }

  async #findWaiting(run: string, mark: string, host: string): Promise<WaitingPlace | undefined> {
    let before = 0;
    for (const queue of QUEUES) {
      for (let last = -1; ; last -= LOOK) {
        const reply = await this.#scripts.run('find', run, queue, host, mark, last, LOOK);
        const [looked, entry, ahead] = reply as [number, string?, number?];
        if (entry !== undefined)
          return { at: 'waiting', queue, ahead: before + Number(ahead), state: stateOf(...wordsOfEntry(entry)) };
        if (looked < LOOK) break;
      }
      before += await this.#redis.llen(`${this.#prefix}run:${run}:${queue === 'priority' ? 'wait!' : 'wait'}:${host}`);
    }
    return undefined;
  }

  async #findRetry(run: string, mark: string, now: number): Promise<Place | undefined> {
    for await (const pairs of chunksOfPairs(this.#redis, `${this.#prefix}run:${run}:putback`, 'zset')) {
      const found = pairs.find(([entry]) => markOfEntry(entry) === mark);
      if (found === undefined) continue;
      const [, queue, ...numbers] = wordsOfEntry(found[0]);
      const score = Number(found[1]);
      const from = [LEAVES_ROOM_FROM, NO_ROOM_FROM].find((at) => score >= at);
      const inMs = Math.max(0, score - (from ?? 0) - now);
      const room = from === undefined ? {} : ({ forRoom: true } as const);
      return { at: 'retry', queue: queue as Queue, inMs, ...room, state: stateOf(...numbers) };
    }
    return undefined;
  }

  async #findInFlight(run: string, mark: string, now: number): Promise<Place | undefined> {
    for await (const pairs of chunksOfPairs(this.#redis, `${this.#prefix}run:${run}:inflight`, 'hash')) {
      const found = pairs.find(([, entry]) => markOfEntry(entry) === mark);
      if (found === undefined) continue;
      const [release, entry] = found;
      const [phase = '', , queue, ...numbers] = wordsOfEntry(entry);
      const lease = Number(await this.#redis.zscore(`${this.#prefix}run:${run}:leases`, release));
      const [, worker, since] = /^working:([^/]*):(\d+)/.exec(phase) ?? [];
      return {
        at: /^[a-z]+/.exec(phase)?.[0] as 'publishing' | 'queued' | 'working',
        queue: queue as Queue,
        release: Number(release),
        leaseMs: Math.max(0, lease - now),
        ...(worker === undefined ? {} : { worker, forMs: Math.max(0, now - Number(since)) }),
        state: stateOf(...numbers),
      };
    }
    return undefined;
  }
}
