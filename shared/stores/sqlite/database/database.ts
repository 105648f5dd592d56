import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { codeOf, messageOf, RemovedFileError, StorageError } from '../../../runtime/errors.ts';
import { withFilesAdvice } from '../../../runtime/open-files.ts';
import { networkFileSystemOf } from './network-file-system.ts';
import { SCHEMA_STEPS, SCHEMA_VERSION } from './schema.ts';
import { isBusy, isDamaged, isLost, isSqlite } from './sqlite-errors.ts';
import { IN_MEMORY, openSqlite, unopenedReason } from './sqlite-file.ts';

/** The wait between two attempts to begin a transaction, while another process or a checkpoint is writing. */
const BUSY_MS = 2;
/** Time after which another process that is still writing, or the disk, counts as hung. */
const BUSY_MOST_MS = 30_000;
/** Once this many calls are gathered, they are made without waiting for more. */
const MANY_CALLS = 64;
/** A file with more free pages than this (32 MiB) is rewritten if no more than this many are in use: that takes a second at most. */
const MOST_FREE_PAGES = 32_768;
const MOST_USED_PAGES = 32_768;
/** URLs may contain secrets in their query, and by default SQLite lets others read the file. */
const FILE_MODE = 0o600;

/** Longest wait for other processes when opening: one may be recovering the log after a crash, say. */
const OPEN_WAIT_MS = 5_000;
/** The same where only one process at a time can open the file: a command is soon over, and a crawl isn't worth waiting for. */
const EXCLUSIVE_OPEN_WAIT_MS = 2_000;

interface LocalDatabaseOptions {
  /** A file, or {@link IN_MEMORY}. */
  readonly path: string;
  /**
   * Calls are gathered while more of them come, and made together after at most this many milliseconds. By default, each is made
   * at once.
   */
  readonly gatherMs?: number;
  /** Only tests set it; by default it asks the system, see {@link networkFileSystemOf}. */
  readonly networkFileSystem?: typeof networkFileSystemOf;
}

/** Hooks at the beginning and the end of each transaction, and after its commit. */
export interface Around {
  begin(): void;
  end(): void;
  /** The transaction was committed. */
  committed(): void;
}

/** A call that waits for its transaction. */
interface Call {
  readonly work: () => unknown;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/** A call threw an error of its own. */
class CallError extends Error {
  readonly call: Call;
  readonly reason: unknown;

  constructor(call: Call, reason: unknown) {
    super('a call threw');
    this.call = call;
    this.reason = reason;
  }
}

/**
 * The database of all local runs. Calls are gathered for a moment and made in one transaction. If one of them throws, all are
 * rolled back, and the others are made again without it, so a call's work must depend on the database alone. Callers get their
 * results after the commit. Only the database keeps state, so what SQLite rolls back never happened.
 *
 * With a write-ahead log, readers and writers don't block each other. A separate thread makes the checkpoints (`checkpoints.ts`):
 * some disks take 30 ms for one, which would hold up the event loop.
 *
 * The log needs memory that all processes share, which a network file system can't provide: there, the first process has the
 * database to itself, and SQLite makes the checkpoints between transactions.
 */
export class LocalDatabase {
  readonly path: string;
  /** Whether no other connection can open the file while this one is open. */
  readonly isExclusive: boolean;
  readonly #database: DatabaseSync;
  readonly #gatherMs: number | undefined;
  readonly #statements = new Map<string, StatementSync>();
  readonly #failure = new AbortController();
  #calls: Call[] = [];
  #gatheredSince: number | undefined;
  #turn: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #busySince: number | undefined;
  #around: Around = { begin: () => {}, end: () => {}, committed: () => {} };

  /** @throws StorageError if it can't be opened, or was written by a newer program */
  constructor({ path, gatherMs, networkFileSystem = networkFileSystemOf }: LocalDatabaseOptions) {
    this.path = path;
    const network = path === IN_MEMORY ? undefined : networkFileSystem(path);
    this.isExclusive = network !== undefined;
    this.#gatherMs = gatherMs;
    this.#database = openDatabase(path, network);
  }

  /** Aborted with a `StorageError` once something could not be written. From then on no call is made. */
  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  /** Returns the rows of a query. Only inside a call's work. */
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined;
  }

  /** A number that changes with each commit of another connection. Only inside a call's work. */
  get version(): number {
    return this.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  /** Makes a change. Returns how many rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /**
   * Runs `work`, which must be synchronous, in the next transaction. Rejects with the error that it threw, or with the reason why
   * the transaction was lost; in both cases none of its changes were kept.
   */
  call<T>(work: () => T): Promise<T> {
    return new Promise<T>((done, failed) => {
      this.#calls.push({ work, done: done as (result: unknown) => void, failed });
      if (this.#busySince !== undefined) return;
      if (this.#gatherMs === undefined || this.#calls.length >= MANY_CALLS) this.#flush();
      else if (this.#gatheredSince === undefined) this.#gather(performance.now());
    });
  }

  /** Sets the hooks of all transactions; called once, before the first call. */
  surround(around: Around): void {
    this.#around = around;
  }

  /** Leaves the checkpoints to others from now on; see `checkpoints.ts`. */
  leaveCheckpoints(): void {
    if (!this.isExclusive) this.#database.exec('PRAGMA wal_autocheckpoint = 0');
  }

  /** Reports that something that belongs to the database could not be written; see `failure`. */
  fail(error: unknown): void {
    this.#failure.abort(error);
  }

  /** Syncs all commits to the disk, so that they survive a power cut. */
  async sync(): Promise<void> {
    if (this.path === IN_MEMORY) return;
    try {
      if (statSync(this.path, { throwIfNoEntry: false }) === undefined) throw new RemovedFileError(this.path);
      // Safe to open and close: SQLite's locks are on its other files.
      const log = await open(`${this.path}-wal`, 'r');
      try {
        await new Promise<void>((resolve, reject) => {
          fdatasync(log.fd, (error) => (error === null ? resolve() : reject(error)));
        });
      } finally {
        await log.close();
      }
    } catch (error: unknown) {
      // Without a log, everything is in the database.
      if (codeOf(error) !== 'ENOENT') this.fail(error instanceof StorageError ? error : this.#unwritable(error));
    }
  }

  /**
   * Rewrites a file that is mostly empty, unless another connection is writing. Returning its free pages one by one would take time
   * that grows with the square of their number.
   */
  shrink(): void {
    const read = (pragma: string): number =>
      Number(Object.values(this.#database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
    try {
      const free = read('freelist_count');
      if (free > MOST_FREE_PAGES && read('page_count') - free <= MOST_USED_PAGES) this.#database.exec('VACUUM');
    } catch (error: unknown) {
      // If the disk has no room for a second file, say, the file stays as it is.
      if (!isSqlite(error)) throw error;
    }
  }

  close(): void {
    if (this.#calls.length > 0) this.#flush();
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  /** The first turn of the event loop without a further call ends the wait: the next caller may be waiting for these calls. */
  #gather(since: number): void {
    this.#gatheredSince = since;
    const gathered = this.#calls.length;
    this.#turn = setImmediate(() => {
      const isOver = this.#calls.length === gathered || performance.now() - since >= (this.#gatherMs ?? 0);
      if (isOver) this.#flush();
      else this.#gather(since);
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#timer = undefined;
    this.#gatheredSince = undefined;
    if (this.#failure.signal.aborted) {
      for (const { failed } of this.#take()) failed(this.#failure.signal.reason);
      return;
    }
    try {
      this.#database.exec('BEGIN IMMEDIATE');
    } catch (error: unknown) {
      this.#notBegun(error);
      return;
    }
    this.#busySince = undefined;
    const calls = this.#take();
    try {
      const results = this.#makeAll(calls);
      this.#database.exec('COMMIT');
      this.#around.committed();
      for (const [i, { done }] of calls.entries()) done(results[i]);
    } catch (error: unknown) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      if (error instanceof CallError) this.#retryWithout(calls, error);
      else this.#lose(calls, error);
    }
  }

  #makeAll(calls: readonly Call[]): unknown[] {
    this.#around.begin();
    const results = calls.map((call) => {
      try {
        return call.work();
      } catch (error: unknown) {
        // On a full disk, say, SQLite has rolled back by itself, and no call could be kept.
        throw !this.#database.isTransaction || isLost(error) ? error : new CallError(call, error);
      }
    });
    this.#around.end();
    return results;
  }

  /** One call threw, and all were undone: makes the others again. It is rare, and a savepoint for each call would cost more. */
  #retryWithout(calls: readonly Call[], { call: thrower, reason }: CallError): void {
    thrower.failed(reason);
    this.#calls = [...calls.filter((call) => call !== thrower), ...this.#calls];
    if (this.#calls.length > 0) this.#flush();
  }

  /** While another process writes, tries again without holding up the event loop. */
  #notBegun(error: unknown): void {
    const now = performance.now();
    this.#busySince ??= now;
    if (isBusy(error) && now - this.#busySince < BUSY_MOST_MS) this.#timer = setTimeout(() => this.#flush(), BUSY_MS);
    else this.#lose(this.#take(), error);
  }

  #take(): Call[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  #lose(calls: readonly Call[], error: unknown): void {
    this.#busySince = undefined;
    const reason = isSqlite(error) ? this.#unwritable(error) : error;
    if (isSqlite(error)) this.fail(reason);
    for (const { failed } of calls) failed(reason);
  }

  #unwritable(error: unknown): StorageError {
    return isDamaged(error)
      ? damaged(this.path, error)
      : new StorageError(`${this.path} can't be written: ${withFilesAdvice(error)}`, { cause: error });
  }

  /** SQLite recompiles a statement each time that a bare parameter of its LIMIT is bound, which takes 20 µs or more. */
  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql.replaceAll('LIMIT ?', 'LIMIT +?'));
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function openDatabase(path: string, network: string | undefined): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    if (path !== IN_MEMORY) closeSync(openSync(path, 'a', FILE_MODE));
    database = openSqlite(path, network === undefined ? OPEN_WAIT_MS : EXCLUSIVE_OPEN_WAIT_MS);
    // Must come before the first read, which decides whether there is a file of shared memory.
    if (network !== undefined) database.exec('PRAGMA locking_mode = EXCLUSIVE');
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version > SCHEMA_VERSION) {
      throw new StorageError(
        `${path} has version ${version}, and this program supports none newer than ${SCHEMA_VERSION}: use the newer program, or another OUTPUT_DIR`,
      );
    }
    // A transaction changes a few scattered rows: with small pages, half as many bytes go into the log.
    if (version === 0) database.exec('PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL');
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000',
    );
    if (version < SCHEMA_VERSION) updateSchema(database);
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error: unknown) {
    database?.close();
    if (error instanceof StorageError) throw error;
    if (isDamaged(error)) throw damaged(path, error);
    if (network !== undefined && isBusy(error))
      throw new StorageError(
        `${path} is on ${network}, where one process at a time can have it open, and another one has: wait until that crawl or command has ended`,
        { cause: error },
      );
    throw new StorageError(`${path} can't be opened: ${unopenedReason(path, error)} (OUTPUT_DIR)`, { cause: error });
  }
}

function damaged(path: string, error: unknown): StorageError {
  const mend = 'It holds no records: move it away, with its -wal and -shm files if they exist, and crawl again';
  return new StorageError(`${path} is damaged: ${messageOf(error)}. ${mend}`, { cause: error });
}

/** Updates the schema, unless another process has done so meanwhile. */
function updateSchema(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version < SCHEMA_VERSION)
    database.exec(`${SCHEMA_STEPS.slice(version).join('')} PRAGMA user_version = ${SCHEMA_VERSION}`);
  database.exec('COMMIT');
}
