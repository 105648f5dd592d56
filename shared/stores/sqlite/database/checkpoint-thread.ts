import { parentPort, workerData } from 'node:worker_threads';
import { isLogLonger } from './log-file.ts';
import { isBusy } from './sqlite-errors.ts';
import { openSqlite } from './sqlite-file.ts';

/** The thread of {@link Checkpoints}: makes a checkpoint when it is told to, and reports when that is over. */

/** How long a restart waits for writers and readers. */
const WAIT_MS = 2_000;
/** From this many bytes on, writers wait until the whole log is in the database. */
const TOO_LONG_LOG_BYTES = 32 * 2 ** 20;
/** What the log's file is cut to once its content is in the database. */
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
 * The first write after the whole log is in the database goes to the log's beginning, and waits until its new header is on the
 * disk: so it is made here, where that holds up nobody.
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

/** Writers go on meanwhile, and may add to the log faster than it is copied: once it is too long, they wait. */
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
