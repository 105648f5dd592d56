import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { CheckpointMode } from './checkpoints.ts';

/** The thread of {@link Checkpoints}: makes a checkpoint when it is told to, and reports when that is over. */

/** How long a restart waits for writers and readers. */
const WAIT_MS = 2_000;

const database = new DatabaseSync(workerData as string, { timeout: WAIT_MS });

parentPort?.on('message', (mode: CheckpointMode) => {
  try {
    // A busy answer isn't an error: the next look asks again.
    database.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
  } finally {
    parentPort?.postMessage('done');
  }
});
