import type { OwnedRun } from '../../ports/local-runs.ts';
import { SYNC_EVERY_MS } from '../../ports/sink.ts';
import { messageOf, StorageError } from '../../runtime/errors.ts';
import { Checkpoints } from './database/checkpoints.ts';
import type { FileLock } from './database/lock.ts';
import { ROWS_AT_ONCE } from './database/schema.ts';
import { deleteExpired } from './dead-letters.ts';
import { deleteLeftovers, forgetHosts, forgetPages, sweepEnded } from './leftovers.ts';
import { forgetGroups } from './moves/groups.ts';
import type { LocalStore } from './moves/local-store.ts';
import type { Moves } from './moves/moves.ts';

interface OwnedRunParts {
  readonly store: LocalStore;
  readonly run: string;
  readonly lock: FileLock;
  readonly isSealed: boolean;
  readonly syncRecords: () => Promise<void>;
}

/** A run that this process has open in the database of its folder. */
export class OwnedLocalRun implements OwnedRun {
  readonly isSealed: boolean;
  readonly #parts: OwnedRunParts;
  readonly #checkpoints: Checkpoints;
  readonly #timer: NodeJS.Timeout;
  #syncing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: OwnedRunParts) {
    this.#parts = parts;
    this.isSealed = parts.isSealed;
    this.#checkpoints = new Checkpoints(parts.store.database);
    parts.store.database.leaveCheckpoints();
    this.#checkpoints.start();
    this.#timer = setInterval(() => void this.sync(), SYNC_EVERY_MS).unref();
  }

  get failure(): AbortSignal {
    return this.#parts.store.database.failure;
  }

  sync(): Promise<void> {
    this.#syncing = this.#syncing
      .then(() => this.#sync())
      .catch((error: unknown) => this.#parts.store.database.fail(error));
    return this.#syncing;
  }

  async end(): Promise<void> {
    await this.sync();
    const { store, run } = this.#parts;
    // Seeds may have credentials in them.
    await store.move(({ database }) =>
      database.run("UPDATE crawls SET beginning = json_set(beginning, '$.seeds', json('[]')) WHERE run = ?", run),
    );
    while (await store.move(deleteExpired)) {}
    await sweepEnded(store);
    await store.move(forgetFlags);
    await forgetHosts(store);
    await forgetPages(store);
    await deleteLeftovers(store);
    store.database.shrink();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.sync();
    await this.#checkpoints.stop();
    this.#parts.store.owned?.delete(this.#parts.run);
    this.#parts.lock.release();
  }

  async #sync(): Promise<void> {
    const { store, run, syncRecords } = this.#parts;
    if (this.failure.aborted) return;
    const over = await store.move((moves) => {
      moves.database.run('UPDATE crawls SET touchedAt = ? WHERE run = ?', moves.now, run);
      deleteExpired(moves);
      const row = moves.run(run);
      // Tasks that end from now on wait for the next sync.
      return row === undefined || row.generation === null ? undefined : { n: row.n, before: ++row.generation };
    });
    try {
      await syncRecords();
    } catch (error: unknown) {
      const problem = `records can't be synced to disk: ${messageOf(error)}`;
      store.database.fail(error instanceof StorageError ? error : new StorageError(problem, { cause: error }));
      return;
    }
    await store.database.sync();
    while (over !== undefined && (await this.#forgetSome(over.n, over.before))) {}
  }

  /** Deletes tasks whose records are on the disk. Returns whether there may be more. */
  async #forgetSome(n: number, before: number): Promise<boolean> {
    const { run } = this.#parts;
    return await this.#parts.store.move((moves) => {
      const { database } = moves;
      const deleted = database.run(
        'DELETE FROM tasks WHERE id IN (SELECT id FROM tasks WHERE run = ? AND over < ? LIMIT ?)',
        ...[n, before, ROWS_AT_ONCE],
      );
      // Groups go after their tasks, which may need them as long as they can be taken back.
      const row = moves.run(run);
      return deleted === ROWS_AT_ONCE || (row !== undefined && forgetGroups(moves, row, before, ROWS_AT_ONCE));
    });
  }
}

/** Forgets the flags of ended runs, which may contain credentials as well. They are needed while letters can be replayed. */
function forgetFlags(moves: Moves): void {
  moves.flush();
  moves.database.run(
    `UPDATE crawls SET beginning = json_set(beginning, '$.flags', json('{}'))
     WHERE run IN (SELECT id FROM runs WHERE endedAt IS NOT NULL AND NOT EXISTS (SELECT 1 FROM letters WHERE letters.run = runs.n AND letters.run > 0))`,
  );
}
