import { type ReleaseName, WORKING_MS } from '../../../../ports/frontier/frontier.ts';
import type { LocalDatabase } from '../../database/database.ts';
import type { RowMemory } from '../../database/row-cache.ts';
import { type Ending, type TaskRow, textOf } from './task-rows.ts';

/** Only the columns that calls need, since each one costs time. */
const FIND_FLIGHT =
  'SELECT id, run, host, queue, release, worker, mark, claimed, attempts, starts, throttles, firstSeen, deadline, stamp, links, form FROM tasks WHERE run = ? AND release = ?';

const LANDED = 'release = NULL, phase = NULL, leaseUntil = NULL, since = NULL, worker = NULL';

/**
 * The tasks as one transaction changes them. A task in flight is read in several transactions, so its row is remembered from one to
 * the next: it is valid until another store writes.
 */
export class TaskTable {
  readonly #database: LocalDatabase;
  readonly #memory: RowMemory<TaskRow>;
  /** Tasks that this transaction has read or changed; undefined for those that are no longer in flight. */
  readonly #flights = new Map<string, TaskRow | undefined>();

  constructor(database: LocalDatabase, memory: RowMemory<TaskRow>) {
    this.#database = database;
    this.#memory = memory;
  }

  /** Called after a commit. */
  remember(): void {
    for (const [name, task] of this.#flights) {
      if (task === undefined) this.#memory.delete(name);
      else this.#memory.set(name, task);
    }
  }

  /** Forgets everything that was read. */
  clear(): void {
    this.#flights.clear();
    this.#memory.clear();
  }

  /** Returns the ledger's entry of a release. Changes of this row are remembered, so one of the methods below must write them. */
  flight(run: number, { release, mark }: ReleaseName): TaskRow | undefined {
    const name = nameOf(run, release);
    if (!this.#flights.has(name)) {
      const known = this.#memory.get(name);
      const task =
        known === undefined ? this.#database.get<TaskRow>(FIND_FLIGHT, run, release) : ({ ...known } as TaskRow);
      if (task !== undefined) this.#flights.set(name, task);
    }
    const task = this.#flights.get(name);
    return task?.mark === mark ? task : undefined;
  }

  /** Moves a waiting task into the ledger. */
  release(
    task: TaskRow,
    release: number,
    { phase, leaseUntil, since }: { readonly phase: 'p' | 'q'; readonly leaseUntil: number; readonly since: number },
  ): void {
    this.#database.run(
      'UPDATE tasks SET place = NULL, release = ?, phase = ?, leaseUntil = ?, since = ? WHERE id = ?',
      ...[release, phase, leaseUntil, since, task.id],
    );
    this.#flights.set(nameOf(task.run, release), { ...task, release, worker: null });
  }

  /** Records that a worker begins with a task. */
  start(task: TaskRow, worker: string, now: number): void {
    task.starts++;
    task.worker = worker;
    this.#database.run(
      "UPDATE tasks SET phase = 'w', worker = ?, since = ?, leaseUntil = ?, starts = ? WHERE id = ?",
      ...[worker, now, now + WORKING_MS, task.starts, task.id],
    );
  }

  claim(task: TaskRow, mark: string): void {
    task.claimed = mark;
    this.#database.run('UPDATE tasks SET claimed = ? WHERE id = ?', mark, task.id);
  }

  /** Sets how many links the admission with this stamp has offered, see {@link TaskRow.stamp}. */
  countLinks(task: TaskRow, stamp: string, links: number): void {
    task.stamp = stamp;
    task.links = links;
    this.#database.run('UPDATE tasks SET stamp = ?, links = ? WHERE id = ?', stamp, links, task.id);
  }

  /** Writes back a task that waits from now on. */
  wait(task: TaskRow, { place, dueAt }: { readonly place: number | null; readonly dueAt: number | null }): void {
    this.#leave(task);
    const { host, attempts, starts, throttles, form, id } = task;
    this.#database.run(
      `UPDATE tasks SET host = ?, place = ?, dueAt = ?, ${LANDED}, stamp = NULL, attempts = ?, starts = ?, throttles = ?, form = ? WHERE id = ?`,
      ...[host, place, dueAt, attempts, starts, throttles, form, id],
    );
  }

  /** Deletes a task that is over, or keeps it until its record is on the disk. */
  close(task: TaskRow, generation: number | null, ending: Ending): void {
    if (generation === null) {
      this.remove(task);
      return;
    }
    this.#leave(task);
    const { host, form, attempts, throttles, id } = task;
    this.#database.run(
      `UPDATE tasks SET over = ?, ending = ?, host = ?, form = ?, attempts = ?, throttles = ?, ${LANDED} WHERE id = ?`,
      ...[generation, textOf(ending), host, form, attempts, throttles, id],
    );
  }

  remove(task: Pick<TaskRow, 'run' | 'release' | 'id'>): void {
    this.#leave(task);
    this.#database.run('DELETE FROM tasks WHERE id = ?', task.id);
  }

  #leave({ run, release }: Pick<TaskRow, 'run' | 'release'>): void {
    if (release !== null) this.#flights.set(nameOf(run, release), undefined);
  }
}

function nameOf(run: number, release: number): string {
  return `${run} ${release}`;
}
