import type { LocalDatabase } from './database.ts';
import { SHARED } from './schema.ts';

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

  /** Returns whether it was missing. `task`: the id of the task that takes it. */
  add(owner: number, mark: string, bit: number, task: number | null = null): boolean {
    const changed = this.#database.run(
      `INSERT INTO marks (owner, mark, bits, task) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET bits = bits | excluded.bits, task = coalesce(excluded.task, task) WHERE bits & excluded.bits = 0`,
      ...[owner, mark, bit, task],
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

  /**
   * The number of the run that has taken a shared mark once more, 0 if none has it in hand any more; nothing if it was taken but
   * once.
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

  /** The id of the task that waits or is in flight for a mark. */
  liveTask(owner: number, mark: string): number | undefined {
    const row = this.#database.get<{ id: number }>(
      'SELECT tasks.id AS id FROM marks JOIN tasks ON tasks.id = marks.task AND tasks.mark = marks.mark WHERE marks.owner = ? AND marks.mark = ?',
      owner,
      mark,
    );
    return row?.id;
  }
}
