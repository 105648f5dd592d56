import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import { MINUTE_MS } from '../../../task/durations.ts';
import type { LocalDatabase } from '../database/database.ts';
import { IN_MEMORY } from '../database/sqlite-file.ts';
import { leaveOutGap } from './left-out-gap.ts';
import { Moves } from './moves.ts';
import { RowMemories } from './rows/run-rows.ts';

/** A process counts as having been asleep when the time of day has run ahead of its monotonic time by at least this much. */
const ASLEEP_MS = MINUTE_MS;

type StoreClock = Pick<Clock, 'now' | 'monotonic'>;

/** The base of all ports of the local store: each call sees the database at one moment of one clock. */
export class LocalStore {
  readonly database: LocalDatabase;
  readonly clock: StoreClock;
  /** The runs that this process has to itself; undefined if no other process can have any. */
  readonly owned: Set<string> | undefined;
  /** The moves of the transaction under way: a row is read once for all of its calls. */
  #moves: Moves | undefined;

  constructor({ database, clock }: { readonly database: LocalDatabase; readonly clock: StoreClock }) {
    this.database = database;
    this.owned = database.path === IN_MEMORY ? undefined : new Set();
    this.clock = clock;
    const memories = new RowMemories();
    const writer = randomUUID();
    let version: number | undefined;
    let found: number | undefined;
    /** How far the time of day was ahead of monotonic time at the last transaction, and at this one. */
    let ahead: number | undefined;
    let aheadNow = 0;
    database.surround({
      begin: () => {
        found = database.version;
        if (found !== version && !isWrittenBy(database, writer)) memories.clear();
        const now = clock.now();
        const moves = new Moves({ database, now: Math.floor(now), owned: this.owned, memories });
        this.#moves = moves;
        aheadNow = now - clock.monotonic();
        const asleepMs = Math.floor(aheadNow - (ahead ?? aheadNow));
        // A machine loses its network before it sleeps, and has it again some time after it wakes.
        if (asleepMs >= ASLEEP_MS) for (const run of this.owned ?? []) leaveOutGap(moves, run, asleepMs);
      },
      end: () => this.#moves?.flush(true),
      committed: () => {
        version = found;
        ahead = aheadNow;
        this.#moves?.remember();
      },
    });
  }

  /** Makes one call: keeps all changes of `work`, or none. `work` may run twice, and must change nothing but the database. */
  readonly move = <T>(work: (moves: Moves) => T): Promise<T> =>
    this.database.call(() => {
      if (this.#moves === undefined) throw new Error('no transaction has begun');
      return work(this.#moves);
    });

  /** Returns when a crawl was last at work here, by its process' clock; 0 if none ever was. */
  async lastTouchedAt(): Promise<number> {
    return await this.move(
      ({ database }) => database.get<{ at: number | null }>('SELECT max(touchedAt) AS at FROM crawls')?.at ?? 0,
    );
  }
}

/**
 * Returns whether this store was the last one to write, and records it as the last one from now on. The thread that shortens the log
 * writes as well, but changes nothing that a store remembers.
 */
function isWrittenBy(database: LocalDatabase, writer: string): boolean {
  if (database.get<{ writer: string }>('SELECT writer FROM lastWriter')?.writer === writer) return true;
  database.run('UPDATE lastWriter SET writer = ?', writer);
  return false;
}
