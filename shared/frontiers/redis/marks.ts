import type { Redis } from 'ioredis';
import { UsageError } from '../../errors.ts';
import { type Forgettable, type Forgotten, hostOfMark, type Marks } from '../../marks.ts';
import { MALFORMED_HOST } from '../policy.ts';
import { chunksOfKeys, chunksOfList, chunksOfPairs, chunksOfSet, escapeGlob, markOfEntry } from './chunks.ts';
import { Scripts } from './scripts.ts';

/** Marks that are gathered before it is asked which of them are live: about a hundred megabytes. */
const GATHERED = 500_000;
/** Marks dropped by one command. */
const DROPPED_AT_ONCE = 250;
/** Shards of compact marks dropped by one script: about a millisecond. */
const SHARDS_AT_ONCE = 500;
/** Hosts whose lists are read side by side. */
const HOSTS_AT_ONCE = 20;

interface RedisMarksOptions {
  readonly redis: Redis;
  readonly prefix: string;
}

/**
 * The marks in Redis: `crawled_urls`, and of each run `seen` and `failed`: plain commands, in chunks. Compact marks are
 * digests, which only scripts can find, and nobody can read.
 */
export class RedisMarks implements Marks {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #scripts: Scripts;

  constructor({ redis, prefix }: RedisMarksOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#scripts = new Scripts(redis, prefix);
  }

  async ofRun(run: string, marks: readonly string[]): Promise<readonly boolean[]> {
    if (marks.length === 0) return [];
    const [seen, failed] = await Promise.all(
      ['seen', 'failed'].map((set) => this.#redis.smismember(`${this.#prefix}run:${run}:${set}`, ...marks)),
    );
    return marks.map((_, i) => seen?.[i] === 1 || failed?.[i] === 1);
  }

  async forget(which: Forgettable): Promise<Forgotten> {
    const sets = await this.#sets();
    const total = { forgotten: 0, kept: 0, ...(await this.#forgetCompact(which, sets[0]?.sharers ?? [])) };
    for (const { key, sharers } of sets) {
      const { forgotten, kept } = await this.#forgetIn(key, sharers, which);
      total.forgotten += forgotten;
      total.kept += kept;
    }
    await this.#forgetPages(which);
    return total;
  }

  /** What incremental runs remember goes with the marks: a page that is forgotten is fetched whole. */
  async #forgetPages(which: Forgettable): Promise<void> {
    const key = `${this.#prefix}page:`;
    if (which !== 'all' && 'mark' in which) {
      await this.#redis.unlink(key + which.mark);
      return;
    }
    const pattern = which === 'all' ? '*' : `*${escapeGlob(which.host)}/*`;
    for await (const keys of chunksOfKeys(this.#redis, escapeGlob(key) + pattern)) {
      const meant = keys.filter((each) => which === 'all' || hostOfMark(each.slice(key.length)) === which.host);
      if (meant.length > 0) await this.#redis.unlink(...meant);
    }
  }

  /** Every set of marks, with the open runs that go by it. */
  async #sets(): Promise<{ readonly key: string; readonly sharers: readonly string[] }[]> {
    const [known, open] = await Promise.all([
      this.#redis.zrange(`${this.#prefix}runs`, 0, -1),
      this.#redis.zrange(`${this.#prefix}runs:open`, 0, -1),
    ]);
    const dedups = await Promise.all(open.map((run) => this.#redis.hget(`${this.#prefix}run:${run}`, 'dedup')));
    const shared = open.filter((_, i) => dedups[i] !== 'run');
    return [
      { key: `${this.#prefix}crawled_urls`, sharers: shared },
      ...known.flatMap((run) => [
        { key: `${this.#prefix}run:${run}:seen`, sharers: open.includes(run) ? [run] : [] },
        { key: `${this.#prefix}run:${run}:failed`, sharers: [] },
      ]),
    ];
  }

  /** Nothing, if the marks that runs share are not compact. */
  async #forgetCompact(which: Forgettable, sharers: readonly string[]): Promise<Forgotten | undefined> {
    if ((await this.#redis.exists(`${this.#prefix}crawled_urls:compact`)) === 0) return undefined;
    if (which === 'all') return { forgotten: await this.#dropShards(), kept: 0 };
    if ('host' in which)
      throw new UsageError('compact marks (DEDUP) are digests, which tell no host: forget single URLs, or --all');
    const { mark } = which;
    if ((await this.#scripts.run('known', mark)) !== 1) return { forgotten: 0, kept: 0 };
    if ((await this.#liveMarks(sharers, which)).has(mark)) return { forgotten: 0, kept: 1 };
    return { forgotten: Number(await this.#scripts.run('unmark', mark)), kept: 0 };
  }

  async #dropShards(): Promise<number> {
    let forgotten = 0;
    for (;;) {
      const [dropped, left, open] = (await this.#scripts.run('unmark_all', SHARDS_AT_ONCE)) as [number, number, string];
      if (open !== '')
        throw new UsageError(
          `compact marks (DEDUP) can't be held against what waits: forget them when no run is open; ${open} is`,
        );
      forgotten += dropped;
      if (left <= 0 || dropped === 0) return forgotten;
    }
  }

  /** First the marks, then which of them are live: what is marked after that is in neither, and stays. */
  async #forgetIn(key: string, sharers: readonly string[], which: Forgettable): Promise<Forgotten> {
    const total = { forgotten: 0, kept: 0 };
    let gathered: string[] = [];
    const drop = async (): Promise<void> => {
      const live = gathered.length === 0 ? new Set() : await this.#liveMarks(sharers, which);
      const free = gathered.filter((mark) => !live.has(mark));
      total.kept += gathered.length - free.length;
      for (let at = 0; at < free.length; at += DROPPED_AT_ONCE)
        total.forgotten += await this.#redis.srem(key, ...free.slice(at, at + DROPPED_AT_ONCE));
      gathered = [];
    };
    for await (const marks of this.#meant(key, which)) {
      gathered.push(...marks);
      if (gathered.length >= GATHERED) await drop();
    }
    await drop();
    return total;
  }

  async *#meant(key: string, which: Forgettable): AsyncGenerator<string[]> {
    if (which === 'all') {
      yield* chunksOfSet(this.#redis, key);
    } else if ('mark' in which) {
      if ((await this.#redis.sismember(key, which.mark)) === 1) yield [which.mark];
    } else {
      const { host } = which;
      for await (const marks of chunksOfSet(this.#redis, key, `*${escapeGlob(host)}/*`))
        yield marks.filter((mark) => hostOfMark(mark) === host);
    }
  }

  /**
   * The marks of tasks that wait or are in flight. The ledger is read first and last: a task that moves meanwhile is in
   * one of the places that are still to be read.
   */
  async #liveMarks(runs: readonly string[], which: Forgettable): Promise<Set<string>> {
    const live = new Set<string>();
    const add = (entry: string): void => void live.add(markOfEntry(entry));
    const addAll = async (run: string, kind: 'inflight' | 'putback'): Promise<void> => {
      const key = `${this.#prefix}run:${run}:${kind}`;
      for await (const pairs of chunksOfPairs(this.#redis, key, kind === 'putback' ? 'zset' : 'hash'))
        for (const [member, value] of pairs) add(kind === 'putback' ? member : value);
    };
    const addLists = async (run: string, host: string): Promise<void> => {
      for (const list of ['wait', 'wait!']) {
        for await (const entries of chunksOfList(this.#redis, `${this.#prefix}run:${run}:${list}:${host}`))
          for (const entry of entries) add(entry);
      }
    };
    for (const run of runs) {
      await addAll(run, 'inflight');
      const hosts = await this.#hostsWith(run, which);
      for (let at = 0; at < hosts.length; at += HOSTS_AT_ONCE) {
        await Promise.all(hosts.slice(at, at + HOSTS_AT_ONCE).map((host) => addLists(run, host)));
      }
      await addAll(run, 'putback');
      await addAll(run, 'inflight');
    }
    return live;
  }

  /** The hosts whose lists may hold what is meant. */
  async #hostsWith(run: string, which: Forgettable): Promise<readonly string[]> {
    if (which !== 'all' && 'host' in which) return [which.host];
    const hosts: string[] = [];
    for await (const pairs of chunksOfPairs(this.#redis, `${this.#prefix}run:${run}:ready`, 'zset'))
      hosts.push(...pairs.map(([host]) => host));
    if (which === 'all') return hosts;
    const host = hostOfMark(which.mark);
    return hosts.filter((each) => each === host || each === MALFORMED_HOST);
  }
}
