import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export const IN_MEMORY = ':memory:';

/**
 * Opens a file of SQLite's, or a database in memory. SQLite takes a path that begins with `file:` for a URI, and opens another file;
 * an absolute path begins with none.
 *
 * @param timeoutMs the longest that a statement waits while another process has it locked
 */
export function openSqlite(path: string, timeoutMs: number): DatabaseSync {
  return new DatabaseSync(path === IN_MEMORY ? path : resolve(path), { timeout: timeoutMs });
}
