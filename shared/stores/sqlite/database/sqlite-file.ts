import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { withFilesAdvice } from '../../../runtime/open-files.ts';
import { isUnopened } from './sqlite-errors.ts';

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

/** SQLite's MAX_PATHNAME is 512 bytes, and the names of its other files add eight (`-journal`). */
const LONGEST_PATH_BYTES = 504;

/** Returns why SQLite could not open a file. It does not say so itself if the path is too long for it. */
export function unopenedReason(path: string, error: unknown): string {
  const bytes = isUnopened(error) ? pathBytes(path) : 0;
  return bytes > LONGEST_PATH_BYTES
    ? `its full path has ${bytes} bytes, and SQLite opens none with more than ${LONGEST_PATH_BYTES}: choose a shorter one`
    : withFilesAdvice(error);
}

/** Returns the length of a file's path, symbolic links followed. Its folder must exist. */
function pathBytes(path: string): number {
  return Buffer.byteLength(join(realpathSync(dirname(path)), basename(path)));
}
