import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { messageOf, StorageError } from '../../runtime/errors.ts';
import { SCHEMA, SCHEMA_VERSION } from './schema.ts';

/** Another process is writing. */
const SQLITE_BUSY = 5;
/** Between two tries to begin, while another process writes: longer than most of its transactions. */
const BUSY_MS = 2;
/** Another process that writes for so long has hung, or the disk has. */
const BUSY_MOST_MS = 30_000;

interface LocalDatabaseOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  /** How long calls are gathered before they are made together, in milliseconds; 0 is the end of the loop's turn. */
  readonly gatherMs?: number;
}

/** A call that waits for its transaction. */
interface Call {
  readonly work: () => unknown;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * The database of all local runs. Calls are gathered for a moment and made in one transaction, each in a savepoint of its own: one
 * that throws undoes nothing of the others. Callers hear after the commit. Nothing but the database remembers: whatever SQLite
 * rolls back was never so.
 */
export class LocalDatabase {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #gatherMs: number;
  readonly #statements = new Map<string, StatementSync>();
  #calls: Call[] = [];
  #isScheduled = false;
  #busySince: number | undefined;

  /** @throws StorageError if it can't be opened, or was written by a newer program */
  constructor({ path, gatherMs = 0 }: LocalDatabaseOptions) {
    this.path = path;
    this.#gatherMs = gatherMs;
    this.#database = openDatabase(path);
  }

  /** The rows of a query. Only inside of a call's work. */
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined;
  }

  /** Makes a change. Returns how many rows it met. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /**
   * Does `work`, which must not wait for anything, in the next transaction. Rejects with what it threw, or with why the
   * transaction was lost; then nothing of it was done.
   */
  call<T>(work: () => T): Promise<T> {
    return new Promise<T>((done, failed) => {
      this.#calls.push({ work, done: done as (result: unknown) => void, failed });
      this.#schedule(this.#gatherMs);
    });
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #schedule(ms: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const flush = (): void => {
      this.#isScheduled = false;
      this.#flush();
    };
    if (ms === 0) setImmediate(flush);
    else setTimeout(flush, ms);
  }

  #flush(): void {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
    } catch (error: unknown) {
      const now = performance.now();
      this.#busySince ??= now;
      // Tried again without holding up the loop.
      if (isBusy(error) && now - this.#busySince < BUSY_MOST_MS) this.#schedule(BUSY_MS);
      else this.#fail(this.#take(), error);
      return;
    }
    this.#busySince = undefined;
    const calls = this.#take();
    const answers: (() => void)[] = [];
    try {
      for (const call of calls) answers.push(this.#make(call));
      this.#database.exec('COMMIT');
    } catch (error: unknown) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      this.#fail(calls, error);
      return;
    }
    for (const answer of answers) answer();
  }

  /** Makes one call, and returns how its caller is to be told. Throws if the whole transaction is lost. */
  #make({ work, done, failed }: Call): () => void {
    this.#database.exec('SAVEPOINT call');
    try {
      const result = work();
      this.#database.exec('RELEASE call');
      return () => done(result);
    } catch (error: unknown) {
      // A full disk, say: SQLite has undone everything itself.
      if (!this.#database.isTransaction) throw error;
      this.#database.exec('ROLLBACK TO call; RELEASE call');
      if (isLost(error)) throw error;
      return () => failed(error);
    }
  }

  #take(): Call[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  #fail(calls: readonly Call[], error: unknown): void {
    this.#busySince = undefined;
    const reason = isSqlite(error)
      ? new StorageError(`${this.path} can't be written: ${messageOf(error)} (OUTPUT_DIR)`, { cause: error })
      : error;
    for (const { failed } of calls) failed(reason);
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function openDatabase(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;');
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version > SCHEMA_VERSION) {
      throw new StorageError(
        `${path} was written by a newer version of Trawl (form ${version}, this one knows ${SCHEMA_VERSION}): use that one, or another OUTPUT_DIR`,
      );
    }
    if (version === 0) {
      database.exec(
        `PRAGMA auto_vacuum = INCREMENTAL; BEGIN IMMEDIATE; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`,
      );
    }
    return database;
  } catch (error: unknown) {
    database?.close();
    if (!isSqlite(error)) throw error;
    throw new StorageError(`${path} can't be opened: ${messageOf(error)} (OUTPUT_DIR)`, { cause: error });
  }
}

function isSqlite(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

function isBusy(error: unknown): boolean {
  return isSqlite(error) && ((error as { readonly errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;
}

/** Errors after which no call of the same transaction can be trusted to be kept: full, I/O, corrupt. */
function isLost(error: unknown): boolean {
  return isSqlite(error) && [10, 11, 13].includes(((error as { readonly errcode?: number }).errcode ?? 0) % 256);
}
