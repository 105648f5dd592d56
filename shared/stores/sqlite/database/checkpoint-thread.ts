import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { frameBytes } from './log-file.ts';
import { isBusy } from './sqlite-errors.ts';

/** The thread of {@link Checkpoints}: makes a checkpoint when it is told to, and reports when that is over. */

/** How long a restart waits for writers and readers. */
const WAIT_MS = 2_000;
/** From this many bytes on, writers wait until the whole log is in the database. */
const TOO_LONG_LOG_BYTES = 32 * 2 ** 20;

/** `log`: frames in the log; `checkpointed`: those that are in the database. */
interface Progress {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

const database = new DatabaseSync(workerData as string, { timeout: WAIT_MS });
const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number };
database.exec('PRAGMA synchronous = NORMAL');

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

function shorten(): void {
  const { log, checkpointed } = checkpoint('PASSIVE');
  const isTooLong = log * frameBytes(pageBytes) >= TOO_LONG_LOG_BYTES;
  const isWhole = log === checkpointed || (isTooLong && checkpoint('RESTART').busy === 0);
  if (isWhole) beginAnew();
}

parentPort?.on('message', () => {
  try {
    shorten();
  } finally {
    parentPort?.postMessage('done');
  }
});
