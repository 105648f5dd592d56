import type { DatabaseSync } from 'node:sqlite';
import { isBusy } from './sqlite-errors.ts';
import { openSqlite } from './sqlite-file.ts';

/**
 * A file that one process at a time can hold. The lock is the operating system's, not a text with a pid: it ends with the
 * process, however that ends, and can't be mistaken for another's. Node.js locks no files itself; the SQLite in it does,
 * so the file is an empty database under an exclusive lock.
 *
 * Never open the file in any other way while it is held: the system drops a process' lock when it closes *any* descriptor
 * of the file.
 */
export class FileLock {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Takes the lock; undefined if another process still has it after `waitMs`. */
  static take(path: string, waitMs = 0): FileLock | undefined {
    const database = openSqlite(path, waitMs);
    try {
      // Nothing is ever stored, so it needs no journal file.
      database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
      return new FileLock(database);
    } catch (error: unknown) {
      database.close();
      if (isBusy(error)) return undefined;
      throw error;
    }
  }

  release(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}
