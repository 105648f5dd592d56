import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export const IN_MEMORY = ':memory:';

/**
 * Opens an SQLite file, or a database in memory. SQLite would read a path that begins with `file:` as a URI, and open another file;
 * an absolute path never begins so.
 *
 * @param timeoutMs longest time that a statement waits while another process has the file locked
 */
export function openSqlite(path: string, timeoutMs: number): DatabaseSync {
  return new DatabaseSync(path === IN_MEMORY ? path : resolve(path), { timeout: timeoutMs });
}
