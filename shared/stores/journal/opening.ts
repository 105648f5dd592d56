import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Beginning } from '../../ports/journal.ts';
import { StorageError, UsageError } from '../../runtime/errors.ts';
import { LineFile } from '../../runtime/line-file.ts';
import { makeOutputFolder, unusableOutput } from '../../runtime/output-folder.ts';
import type { MemoryStore } from '../memory/store.ts';
import { Credits } from './credits.ts';
import { journalPath, lastSession, sessionsOf, viewJournal } from './folder.ts';
import { JOURNAL_MODE, Journal } from './journal.ts';
import { beginningLine, line } from './lines.ts';
import { FileLock } from './lock.ts';
import { bootId, cutAfterPowerCut } from './power-cut.ts';
import { linesOf, readLines } from './reading.ts';
import { Replay, type Replayed } from './replay.ts';

export interface OpeningOptions {
  /** Journals lie in `<folder>/<run>/`. */
  readonly folder: string;
  /** See {@link JournalParts.syncFirst}. */
  readonly syncFirst?: (() => Promise<void>) | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Begins the journal of a run that will be opened in its store. A run of that name that has ended makes way.
 *
 * @throws UsageError if there is one that hasn't, StorageError if another process is at it or it can't be written
 */
export async function beginJournal(beginning: Beginning, options: OpeningOptions): Promise<Journal> {
  const { folder, now } = options;
  const { run } = beginning;
  const path = journalPath(folder, run);
  return await underLock(path, async (lock) => {
    const found = viewJournal(folder, run);
    if (found !== undefined && found.ended === undefined)
      throw new UsageError(
        `run ${run} was begun before and has not ended: go on with it by --resume ${run}, or choose another --run`,
      );
    const sessions = sessionsOf(path);
    rmSync(path, { force: true });
    const file = new LineFile(path, { mode: JOURNAL_MODE });
    await file.append(beginningLine(beginning, now));
    const replayed = {
      beginning,
      begunAt: now,
      isSealed: false,
      credits: new Credits(),
      tasks: 0,
      sessions,
      workedMs: 0,
    };
    return await startSession(file, lock, replayed, options);
  });
}

/**
 * Reads a run back from its journal into an empty store, to be written on.
 *
 * @throws StorageError if another process is at it, or a line can't be read
 */
export async function reopenJournal(run: string, store: MemoryStore, options: OpeningOptions): Promise<Journal> {
  const path = journalPath(options.folder, run);
  return await underLock(path, async (lock) => {
    cutAfterPowerCut(path);
    const replay = new Replay(store);
    readLines(linesOf(path), path, (line) => replay.read(line));
    return await startSession(new LineFile(path, { mode: JOURNAL_MODE }), lock, replay.finish(options.now), options);
  });
}

async function startSession(
  file: LineFile,
  lock: FileLock,
  replayed: Replayed,
  { syncFirst = async () => {}, now }: OpeningOptions,
): Promise<Journal> {
  const { begunAt, workedMs } = replayed;
  const sessions = replayed.sessions + 1;
  await file.append(line('session', sessions, now - begunAt, bootId(), process.pid, hostname(), workedMs));
  const journal = new Journal({ ...replayed, sessions, file, lock, syncFirst });
  await journal.sync();
  if (journal.failure.aborted) {
    await journal.close();
    throw journal.failure.reason;
  }
  return journal;
}

async function underLock(path: string, open: (lock: FileLock) => Promise<Journal>): Promise<Journal> {
  let lock: FileLock | undefined;
  makeOutputFolder(dirname(path));
  try {
    lock = FileLock.take(`${path}.lock`);
  } catch (error: unknown) {
    throw unusableOutput(`${path}.lock`, error);
  }
  if (lock === undefined)
    throw new StorageError(`${path} is being written by ${lastSession(path)}: wait until it has ended, or stop it`);
  try {
    return await open(lock);
  } catch (error: unknown) {
    lock.release();
    throw error;
  }
}
