import type { LocalDatabase } from '../../database/database.ts';
import { MARK, SHARED } from '../../database/schema.ts';

/** So that the sessions of runs that share marks differ, each run has this many numbers of its own. */
const SESSIONS_EACH = 2 ** 20;

/** Returns a run's session as a mark keeps it. */
export function sessionOf({ n, session }: { readonly n: number; readonly session: number }, owner: number): number {
  return owner === SHARED ? n * SESSIONS_EACH + session : session;
}

/** Where and when a mark was found. */
export interface Discovery {
  /** The id of the task that takes it, if one does. */
  readonly task?: number | null;
  /** The id of the task whose page it was on, 0 for a seed. */
  readonly source: number;
  /** See {@link sessionOf}. */
  readonly session: number;
}

interface Retaken {
  readonly owner: number;
  /** The number of the run whose task is over. */
  readonly run: number;
  readonly mark: string;
  /** The id of the task that takes it. */
  readonly task: number;
  readonly session: number;
}

/** The marks of all runs: which URLs count as taken, and by whom. */
export class MarkTable {
  readonly #database: LocalDatabase;

  constructor(database: LocalDatabase) {
    this.#database = database;
  }

  /** @param owner a run's number, or {@link SHARED} */
  has(owner: number, mark: string, bit: number): boolean {
    const row = this.#database.get<{ bits: number }>(
      'SELECT bits FROM marks WHERE owner = ? AND mark = ?',
      owner,
      mark,
    );
    return row !== undefined && (row.bits & bit) !== 0;
  }

  /** Returns whether it was missing. */
  add(owner: number, mark: string, bit: number, { task = null, source, session }: Discovery): boolean {
    const changed = this.#database.run(
      `INSERT INTO marks (owner, mark, bits, task, source, session) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET bits = bits | excluded.bits, task = coalesce(excluded.task, task), source = excluded.source,
         session = excluded.session WHERE bits & excluded.bits = 0`,
      ...[owner, mark, bit, task, source, session],
    );
    return changed > 0;
  }

  /** Returns whether it was there. */
  drop(owner: number, mark: string, bit: number): boolean {
    const changed = this.#database.run(
      'UPDATE marks SET bits = bits & ~? WHERE owner = ? AND mark = ? AND bits & ? != 0',
      ...[bit, owner, mark, bit],
    );
    if (changed > 0) this.#database.run('DELETE FROM marks WHERE owner = ? AND mark = ? AND bits = 0', owner, mark);
    return changed > 0;
  }

  /** A run's task has failed: frees its mark for other runs, and records it as failed for the run itself. */
  fail(owner: number, run: number, mark: string): void {
    this.#moveBits(owner, run, mark, MARK.taken, MARK.failed);
  }

  /** Takes back a {@link fail}. */
  unfail(owner: number, run: number, mark: string): void {
    this.#moveBits(run, owner, mark, MARK.failed, MARK.taken);
  }

  /**
   * Takes a mark for a new task of a run whose earlier task for it is over. Returns the id of that task, if it failed; undefined if
   * the run has forgotten it.
   */
  retake({ owner, run, mark, task, session }: Retaken): number | undefined {
    const failed = this.#database.get<{ task: number | null; source: number; session: number }>(
      'SELECT task, source, session FROM marks WHERE owner = ? AND mark = ? AND bits & ? != 0',
      ...[run, mark, MARK.failed],
    );
    if (failed !== undefined) this.drop(run, mark, MARK.failed);
    if (!this.add(owner, mark, MARK.taken, { ...(failed ?? { source: 0, session }), task }))
      this.#database.run('UPDATE marks SET task = ? WHERE owner = ? AND mark = ?', task, owner, mark);
    return failed?.task ?? undefined;
  }

  /**
   * Returns whether the mark was found again by the same source, which is read again after a crash: then it isn't a duplicate. `true`
   * only the first time.
   */
  isReadAgain(owner: number, mark: string, { source, session }: Discovery): boolean {
    const changed = this.#database.run(
      'UPDATE marks SET session = ? WHERE owner = ? AND mark = ? AND source = ? AND session < ? AND session >= ?',
      ...[session, owner, mark, source, session, session - (session % SESSIONS_EACH)],
    );
    return changed > 0;
  }

  /**
   * Returns the number of the run that has taken a shared mark once more, 0 if none has it in hand any more; undefined if it was
   * taken only once.
   */
  takenAgainBy(mark: string): number | undefined {
    const row = this.#database.get<{ again: number | null }>(
      'SELECT again FROM marks WHERE owner = ? AND mark = ?',
      SHARED,
      mark,
    );
    return row?.again ?? undefined;
  }

  /** @param task the id of the task that takes it, if one does */
  takeAgain(mark: string, run: number, task: number | null = null): void {
    this.#database.run(
      'UPDATE marks SET again = ?, task = coalesce(?, task) WHERE owner = ? AND mark = ?',
      ...[run, task, SHARED, mark],
    );
  }

  /**
   * Returns the id of the task that waits or is in flight for a mark. SQLite gives the id of a deleted task to a later one. If that is
   * for the same URL, but in a run with other marks, it is not this mark's task.
   */
  liveTask(owner: number, mark: string): number | undefined {
    const row = this.#database.get<{ id: number }>(
      `SELECT tasks.id AS id FROM marks JOIN tasks ON tasks.id = marks.task AND tasks.mark = marks.mark AND tasks.over IS NULL
       WHERE marks.owner = ?1 AND marks.mark = ?2 AND (tasks.run = ?1 OR ?1 = ?3 AND NOT EXISTS (
         SELECT 1 FROM marks AS own WHERE own.owner = tasks.run AND own.mark = ?2 AND own.task = tasks.id AND own.bits & ?4 != 0))`,
      ...[owner, mark, SHARED, MARK.taken],
    );
    return row?.id;
  }

  /** Has the task of a shared mark been taken by this run, and does it wait, or is it in flight? */
  isVisiting(run: number, mark: string): boolean {
    const task = this.liveTask(SHARED, mark);
    if (task === undefined) return false;
    return this.#database.get('SELECT 1 FROM tasks WHERE id = ? AND run = ?', task, run) !== undefined;
  }

  #moveBits(from: number, to: number, mark: string, was: number, is: number): void {
    const row = this.#database.get<{ task: number | null; source: number; session: number }>(
      'SELECT task, source, session FROM marks WHERE owner = ? AND mark = ? AND bits & ? != 0',
      ...[from, mark, was],
    );
    if (row === undefined) return;
    this.drop(from, mark, was);
    this.add(to, mark, is, row);
  }
}
