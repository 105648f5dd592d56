import { parentPort, workerData } from 'node:worker_threads';
import { isLogLonger } from './log-file.ts';
import { isBusy } from './sqlite-errors.ts';
import { openSqlite } from './sqlite-file.ts';

/** The thread of {@link Checkpoints}: makes a checkpoint for each message, and reports when it is done. */

/** Longest time that a restart waits for writers and readers. */
const WAIT_MS = 2_000;
/** From this many bytes on, writers wait until the whole log is in the database. */
const TOO_LONG_LOG_BYTES = 32 * 2 ** 20;
/** Size to which the log's file is cut once its content is in the database. */
const KEPT_FILE_BYTES = 64 * 2 ** 20;

/** `log`: frames in the log; `checkpointed`: those that are in the database. */
interface Progress {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

const path = workerData as string;
const database = openSqlite(path, WAIT_MS);
database.exec(`PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${KEPT_FILE_BYTES}`);

function checkpoint(mode: 'PASSIVE' | 'RESTART'): Progress {
  return database.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as unknown as Progress;
}

/**
 * Makes the first write after the whole log is in the database. It goes to the log's beginning, and waits until the new header is on
 * the disk: here, that holds up nobody.
 */
function beginAnew(): void {
  try {
    database.exec('BEGIN IMMEDIATE');
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
    database.exec(`PRAGMA user_version = ${version}; COMMIT`);
  } catch (error: unknown) {
    if (!isBusy(error)) throw error;
  }
}

/** Copies the log into the database. Writers may add to it faster than that; once it is too long, they have to wait. */
function shorten(): void {
  const isTooLong = isLogLonger(`${path}-wal`, TOO_LONG_LOG_BYTES);
  const { busy, log, checkpointed } = checkpoint(isTooLong ? 'RESTART' : 'PASSIVE');
  if (busy === 0 && log === checkpointed) beginAnew();
}

parentPort?.on('message', () => {
  try {
    shorten();
  } finally {
    parentPort?.postMessage('done');
  }
});
