import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Beginning, LocalRuns, LocalRunView } from '../../ports/local-runs.ts';
import type { StepCounts } from '../../ports/runs.ts';
import { StorageError, UsageError } from '../../runtime/errors.ts';
import { makeOutputFolder, unusableOutput } from '../../runtime/files/output-folder.ts';
import { bootId } from './database/boot.ts';
import { FileLock } from './database/lock.ts';
import { isSqlite } from './database/sqlite-errors.ts';
import { unopenedReason } from './database/sqlite-file.ts';
import { freePlaces } from './moves/held-places.ts';
import { leaveOutGap } from './moves/left-out-gap.ts';
import type { LocalStore } from './moves/local-store.ts';
import type { Moves } from './moves/moves.ts';
import type { RunRow } from './moves/rows/run-rows.ts';
import { progressOf } from './moves/run-progress.ts';
import { stepCountsOf } from './moves/step-counts.ts';
import { OwnedLocalRun } from './owned-run.ts';
import { putRunBack } from './recovery.ts';

interface OpeningOptions {
  readonly store: LocalStore;
  /** The lock of a run is in `<folder>/<run>/`. */
  readonly folder: string;
  /** Syncs the records to the disk: a power cut must not lose one that the store counts. */
  readonly syncRecords: () => Promise<void>;
}

type CrawlRow = {
  readonly run: string;
  readonly beginning: string;
  readonly owner: string;
  readonly boot: string;
  readonly touchedAt: number;
};

/** A name that no boot has: where boots can't be told apart, each counts as a different one. */
const UNKNOWN = 'unknown';

/** Longest wait for a run's lock: a process that only checks whether the run is being crawled holds it for a moment. */
const LOOKED_AT_MS = 200;

/** The runs of a folder's database. */
export class SqliteLocalRuns implements LocalRuns {
  readonly #store: LocalStore;

  constructor({ store }: { readonly store: LocalStore }) {
    this.#store = store;
  }

  async unfinished(): Promise<readonly LocalRunView[]> {
    return await this.#store.move((moves) => {
      moves.flush();
      return moves.database
        .all<CrawlRow>(
          `SELECT crawls.* FROM crawls LEFT JOIN runs ON runs.id = crawls.run
           WHERE runs.endedAt IS NULL OR (boot <> ? AND EXISTS (SELECT 1 FROM tasks WHERE tasks.run = runs.n AND over IS NOT NULL))
           ORDER BY touchedAt DESC, run`,
          bootId() || UNKNOWN,
        )
        .map((row) => viewOf(moves, row));
    });
  }

  async view(run: string): Promise<LocalRunView | undefined> {
    return await this.#store.move((moves) => {
      const row = findCrawl(moves, run);
      return row === undefined ? undefined : viewOf(moves, row);
    });
  }
}

/**
 * Begins a run that will be opened in its store, and takes it for this process. An ended run of that name is replaced.
 *
 * @throws UsageError if a run of that name hasn't ended, StorageError if another process has it or it can't be written
 */
export async function beginRun(beginning: Beginning, options: OpeningOptions): Promise<OwnedLocalRun> {
  const { run } = beginning;
  return await underLock(run, options, async (lock) => {
    await options.store.move((moves) => {
      const found = findCrawl(moves, run);
      if (found !== undefined && viewOf(moves, found).ended === undefined)
        throw new UsageError(
          `run ${run} already exists and has not ended: resume it with --resume ${run}, or choose another --run`,
        );
      makeWay(moves, run);
      moves.database.run(
        'INSERT OR REPLACE INTO crawls (run, beginning, owner, boot, touchedAt) VALUES (?, ?, ?, ?, ?)',
        ...[run, JSON.stringify(beginning), owner(), bootId(), moves.now],
      );
    });
    return new OwnedLocalRun({ ...options, run, lock, isSealed: false });
  });
}

/**
 * Takes a run for this process, to resume it: tasks that its last owner had in flight wait again.
 *
 * @throws StorageError if another process has it
 */
export async function reopenRun(run: string, options: OpeningOptions): Promise<OwnedLocalRun> {
  return await underLock(run, options, async (lock) => {
    const { store } = options;
    const before = await store.move((moves) => findCrawl(moves, run));
    const isSealed = await putRunBack(store, run, { hadPowerCut: hadPowerCut(before?.boot) });
    await store.move((moves) => {
      const { database, now } = moves;
      leaveOutGap(moves, run, Math.max(0, now - (before?.touchedAt ?? now)));
      database.run('UPDATE crawls SET owner = ?, boot = ?, touchedAt = ? WHERE run = ?', owner(), bootId(), now, run);
    });
    return new OwnedLocalRun({ ...options, run, lock, isSealed });
  });
}

/** Drops the tasks that a cancelled run had in flight, if no process has the run any more. */
export async function finishCancelled(
  run: string,
  { store, folder }: Pick<OpeningOptions, 'store' | 'folder'>,
): Promise<void> {
  const path = lockPath(folder, run);
  makeOutputFolder(dirname(path));
  const lock = FileLock.take(path);
  if (lock === undefined) return;
  store.owned?.add(run);
  try {
    await putRunBack(store, run, { hadPowerCut: false });
  } finally {
    store.owned?.delete(run);
    lock.release();
  }
}

/** Whether a process has the run to itself now. */
export function isBeingCrawled(run: string, folder: string): boolean {
  const path = lockPath(folder, run);
  if (!existsSync(path)) return false;
  try {
    const lock = FileLock.take(path);
    lock?.release();
    return lock === undefined;
  } catch (error: unknown) {
    // On a full disk, or if the file is not a lock, no process can hold it.
    if (isSqlite(error)) return false;
    throw error;
  }
}

/**
 * Frees the places at hosts that are held by processes that are gone. Otherwise, nobody could ask these hosts until the leases end.
 * While other processes crawl, only the places of pages and logins are freed, since it is unknown which process holds the others.
 */
async function freeLeftPlaces(run: string, { store, folder }: OpeningOptions): Promise<void> {
  await store.move((moves) => {
    moves.flush();
    const { database } = moves;
    const hosts = database.all<{ host: string }>("SELECT host FROM hosts WHERE places <> ''");
    if (hosts.length === 0) return;
    const open = database.all<{ run: string }>(
      'SELECT crawls.run FROM crawls LEFT JOIN runs ON runs.id = crawls.run WHERE runs.endedAt IS NULL',
    );
    const atWork = new Set(open.map((each) => each.run).filter((each) => each !== run && isBeingCrawled(each, folder)));
    const isKnown = (id: string): boolean => id === run || findCrawl(moves, id) !== undefined;
    const isGone = (holder: string): boolean => {
      if (atWork.size === 0) return true;
      const id = holder.slice(0, holder.indexOf(':'));
      return isKnown(id) && !atWork.has(id);
    };
    for (const { host } of hosts) freePlaces(moves.host(host), isGone);
  });
}

function lockPath(folder: string, run: string): string {
  return join(folder, run, 'crawl.lock');
}

function findCrawl({ database }: Moves, run: string): CrawlRow | undefined {
  return database.get<CrawlRow>('SELECT * FROM crawls WHERE run = ?', run);
}

function viewOf(moves: Moves, { run: id, beginning, touchedAt, boot }: CrawlRow): LocalRunView {
  const run = moves.run(id);
  const left = run === undefined ? [] : stepsLeft(moves, run);
  const view = { beginning: JSON.parse(beginning) as Beginning, left, touchedAt };
  if (run === undefined || run.endedAt === null) return view;
  return hadPowerCut(boot) && hasUnsynced(moves, run) ? view : { ...view, ended: progressOf(moves, run) };
}

function stepsLeft({ database }: Moves, { n }: RunRow): readonly string[] {
  const { steps = {} } = stepCountsOf(database, n);
  const isLeft = ({ discovered, done, skipped, failed }: StepCounts): boolean => discovered > done + skipped + failed;
  return Object.entries(steps).flatMap(([step, counts]) => (isLeft(counts) ? [step] : []));
}

/** Whether the machine may have been restarted since its boot was `boot`. */
function hadPowerCut(boot: string | undefined): boolean {
  return boot !== (bootId() || UNKNOWN);
}

/** Whether a power cut may have lost the record of a task that is over. */
function hasUnsynced({ database }: Moves, { n }: RunRow): boolean {
  return database.get('SELECT 1 FROM tasks WHERE run = ? AND over IS NOT NULL LIMIT 1', n) !== undefined;
}

/** Deletes an ended run of this name; most of its rows are deleted later. */
function makeWay(moves: Moves, run: string): void {
  const { database } = moves;
  moves.flush();
  moves.forgetRows();
  database.run('INSERT OR IGNORE INTO leftovers SELECT n FROM runs WHERE id = ?', run);
  database.run('DELETE FROM runs WHERE id = ?', run);
}

function owner(): string {
  return `process ${process.pid} on ${hostname()}`;
}

async function underLock(
  run: string,
  options: OpeningOptions,
  open: (lock: FileLock) => Promise<OwnedLocalRun>,
): Promise<OwnedLocalRun> {
  const { folder, store } = options;
  const path = lockPath(folder, run);
  makeOutputFolder(dirname(path));
  let lock: FileLock | undefined;
  try {
    lock = FileLock.take(path, LOOKED_AT_MS);
  } catch (error: unknown) {
    throw unusableOutput(path, new Error(unopenedReason(path, error), { cause: error }));
  }
  if (lock === undefined) {
    const by = await store.move((moves) => findCrawl(moves, run)?.owner);
    throw new StorageError(
      `run ${run} is being crawled by ${by ?? 'another process'}: wait until it has ended, or stop it`,
    );
  }
  store.owned?.add(run);
  try {
    await freeLeftPlaces(run, options);
    return await open(lock);
  } catch (error: unknown) {
    store.owned?.delete(run);
    lock.release();
    throw error;
  }
}
