import type { Redis } from 'ioredis';
import type { Forgettable, Forgotten, HowToForget, Marks } from '../../ports/marks.ts';
import { UsageError } from '../../runtime/errors.ts';
import { partsOf } from '../../task/parts.ts';
import { hostOfMark } from '../../task/url/fingerprint.ts';
import { chunksOfKeys, chunksOfList, chunksOfPairs, chunksOfSet, escapeGlob } from './chunks.ts';
import { markOfEntry } from './forms/entry.ts';
import { MoveLog } from './move-log.ts';
import { type RedisStoreOptions, Scripts } from './scripts.ts';

/** Marks collected before looking up which of them are live: about a hundred megabytes. */
const GATHERED = 500_000;
/** Marks dropped by one command. */
const DROPPED_AT_ONCE = 250;
/** Shards of compact marks dropped by one script: about a millisecond. */
const SHARDS_AT_ONCE = 500;
/** Hosts whose lists are read side by side. */
const HOSTS_AT_ONCE = 20;

/** See {@link HowToForget.onMarks}. */
type OnMarks = (more: number) => void;

/** A set of marks. */
interface MarkSet {
  /** Without the prefix. */
  readonly key: string;
  /** The open runs whose tasks have their marks in it. */
  readonly sharers: readonly string[];
  /** It holds only marks of tasks that are over. */
  readonly isOfEnded: boolean;
  /** Its marks are also in another set, where they are counted. */
  readonly isBeside?: true;
}

/**
 * The marks in Redis: `crawled_urls`, and each run's `seen`, `taken` and `failed`, handled by plain commands in chunks. Compact marks
 * are digests: only scripts can find one, and the URL can't be read from it.
 */
export class RedisMarks implements Marks {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #scripts: Scripts;

  constructor({ redis, prefix, clock }: RedisStoreOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#scripts = new Scripts({ redis, prefix, clock });
  }

  async ofRun(run: string, marks: readonly string[]): Promise<readonly boolean[]> {
    if (marks.length === 0) return [];
    const sets = await Promise.all(
      ['seen', 'taken', 'failed'].map((set) => this.#redis.smismember(`${this.#prefix}run:${run}:${set}`, ...marks)),
    );
    return marks.map((_, i) => sets.some((found) => found[i] === 1));
  }

  async forget(which: Forgettable, { isDry = false, onMarks = () => {} }: HowToForget = {}): Promise<Forgotten> {
    if (isDry) return await this.#forgetMarks(which, undefined, onMarks);
    const log = await MoveLog.begin(this.#redis, this.#prefix, this.#scripts);
    try {
      const total = await this.#forgetMarks(which, log, onMarks);
      await this.#forgetPages(which);
      return total;
    } finally {
      await log.end();
    }
  }

  /** Without a log of tasks that move meanwhile, it only counts. */
  async #forgetMarks(which: Forgettable, log: MoveLog | undefined, onMarks: OnMarks): Promise<Forgotten> {
    const sets = await this.#sets();
    const compact = await this.#forgetCompact(which, sets[0]?.sharers ?? [], log, onMarks);
    const total = { forgotten: 0, kept: 0, ...compact };
    for (const set of sets) {
      const { forgotten, kept } = await this.#forgetIn(set, which, log, onMarks);
      if (set.isBeside === true) continue;
      total.forgotten += forgotten;
      total.kept += kept;
    }
    return total;
  }

  /** Deletes what incremental runs remember of pages whose marks are forgotten, so that these are fetched whole. */
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

  /** Every set of marks. */
  async #sets(): Promise<MarkSet[]> {
    const [known, open] = await Promise.all([
      this.#redis.zrange(`${this.#prefix}runs`, 0, -1),
      this.#redis.zrange(`${this.#prefix}runs:open`, 0, -1),
    ]);
    const dedups = await Promise.all(open.map((run) => this.#redis.hget(`${this.#prefix}run:${run}`, 'dedup')));
    const shared = open.filter((_, i) => dedups[i] !== 'run');
    return [
      { key: 'crawled_urls', sharers: shared, isOfEnded: false },
      ...known.flatMap((run) => [
        { key: `run:${run}:seen`, sharers: open.includes(run) ? [run] : [], isOfEnded: false },
        // The shared marks that an incremental run has taken.
        {
          key: `run:${run}:taken`,
          sharers: open.includes(run) ? [run] : [],
          isOfEnded: false,
          isBeside: true as const,
        },
        { key: `run:${run}:failed`, sharers: [], isOfEnded: true },
      ]),
    ];
  }

  /** Forgets compact marks; undefined if the marks that runs share are not compact. */
  async #forgetCompact(
    which: Forgettable,
    sharers: readonly string[],
    log: MoveLog | undefined,
    onMarks: OnMarks,
  ): Promise<Forgotten | undefined> {
    const key = `${this.#prefix}crawled_urls:compact`;
    if ((await this.#redis.exists(key)) === 0) return undefined;
    if (which === 'all') {
      if (log !== undefined) return { forgotten: await this.#dropShards(onMarks), kept: 0 };
      if (sharers[0] !== undefined) throw openRunSharesCompactMarks(sharers[0]);
      return { forgotten: Number(await this.#redis.hget(key, 'members')), kept: 0 };
    }
    if ('host' in which)
      throw new UsageError('compact marks (DEDUP) are digests without a host: forget single URLs, or --all');
    const { mark } = which;
    if ((await this.#scripts.run('known', mark)) !== 1) return { forgotten: 0, kept: 0 };
    if ((await this.#liveMarks(sharers, new Set([mark]))).has(mark)) return { forgotten: 0, kept: 1 };
    return log === undefined ? { forgotten: 1, kept: 0 } : await log.unmark('', [mark]);
  }

  async #dropShards(onMarks: OnMarks): Promise<number> {
    let forgotten = 0;
    for (;;) {
      const [dropped, left, open] = (await this.#scripts.run('unmark_all', SHARDS_AT_ONCE)) as [number, number, string];
      if (open !== '') throw openRunSharesCompactMarks(open);
      forgotten += dropped;
      onMarks(dropped);
      if (left <= 0 || dropped === 0) return forgotten;
    }
  }

  /** Reads the marks first, then which are live. Marks whose tasks are added or put back meanwhile are in the log, and stay. */
  async #forgetIn(
    { key, sharers, isOfEnded }: MarkSet,
    which: Forgettable,
    log: MoveLog | undefined,
    onMarks: OnMarks,
  ): Promise<Forgotten> {
    const total = { forgotten: 0, kept: 0 };
    let gathered = new Set<string>();
    const drop = async (): Promise<void> => {
      const live = await this.#liveMarks(sharers, gathered);
      const free = [...gathered].filter((mark) => !live.has(mark));
      total.kept += live.size;
      onMarks(live.size);
      gathered = new Set();
      if (log === undefined) {
        total.forgotten += free.length;
        onMarks(free.length);
        return;
      }
      for (const some of partsOf(free, DROPPED_AT_ONCE)) {
        const { forgotten, kept } = isOfEnded
          ? { forgotten: await this.#redis.srem(this.#prefix + key, ...some), kept: 0 }
          : await log.unmark(key, some);
        total.forgotten += forgotten;
        total.kept += kept;
        onMarks(some.length);
      }
    };
    for await (const marks of this.#meant(this.#prefix + key, which)) {
      for (const mark of marks) gathered.add(mark);
      if (gathered.size >= GATHERED) await drop();
    }
    if (gathered.size > 0) await drop();
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
   * Returns which of these marks have tasks that wait or are in flight. It reads retries, lists and ledger in this order, so it finds
   * a task that moves forward meanwhile; one that moves back is in the log. A task may wait at any host, since redirects lead elsewhere.
   */
  async #liveMarks(runs: readonly string[], marks: ReadonlySet<string>): Promise<Set<string>> {
    const live = new Set<string>();
    const add = (entry: string): void => {
      const mark = markOfEntry(entry);
      if (marks.has(mark)) live.add(mark);
    };
    const addLists = async (run: string, host: string): Promise<void> => {
      for (const list of ['wait', 'wait!']) {
        for await (const entries of chunksOfList(this.#redis, `${this.#prefix}run:${run}:${list}:${host}`))
          for (const entry of entries) add(entry);
      }
    };
    for (const run of runs) {
      const key = `${this.#prefix}run:${run}`;
      for await (const pairs of chunksOfPairs(this.#redis, `${key}:putback`, 'zset'))
        for (const [entry] of pairs) add(entry);
      const hosts = new Set<string>();
      for await (const pairs of chunksOfPairs(this.#redis, `${key}:ready`, 'zset'))
        for (const [host] of pairs) hosts.add(host);
      for (const some of partsOf([...hosts], HOSTS_AT_ONCE)) await Promise.all(some.map((host) => addLists(run, host)));
      for await (const pairs of chunksOfPairs(this.#redis, `${key}:inflight`, 'hash'))
        for (const [, entry] of pairs) add(entry);
    }
    return live;
  }
}

function openRunSharesCompactMarks(run: string): UsageError {
  return new UsageError(
    `compact marks (DEDUP) can't be compared with waiting tasks: forget them when no run is open; ${run} is open`,
  );
}
