import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { messageOf, StorageError } from '../../runtime/errors.ts';
import { makeOutputFolder } from '../../runtime/output-folder.ts';
import { type KnownPage, PAGE_RETENTION_MS } from '../../task/task/known-page.ts';
import type { PageTable } from '../memory/pages.ts';
import { JOURNAL_MODE } from './journal.ts';

const VERSION = 1;
/** Another process writes for some milliseconds at a time. */
const BUSY_MS = 5_000;
/** A crash costs what was not written: these pages are fetched whole again. */
const WRITE_EVERY_MS = 1_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS pages (
    mark TEXT PRIMARY KEY,
    fetched_at INTEGER NOT NULL,
    etag TEXT,
    modified TEXT,
    content_hash TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    read_as TEXT NOT NULL
  ) WITHOUT ROWID;
  PRAGMA user_version = ${VERSION};`;

const UPSERT = `
  INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (mark) DO UPDATE
    SET (fetched_at, etag, modified, content_hash, bytes, read_as) =
        (excluded.fetched_at, excluded.etag, excluded.modified, excluded.content_hash, excluded.bytes, excluded.read_as)
    WHERE fetched_at <= excluded.fetched_at`;

interface PageFileOptions {
  /** The file lies in this folder, for all runs in it. */
  readonly folder: string;
  /** Brings the records to the disk: no page may be known whose record a power cut took. */
  readonly syncFirst: () => Promise<void>;
  readonly now: () => number;
  /** Told once: pages can't be read or written. It is tried again all the same. */
  readonly onFailure: (problem: string) => void;
}

/** Where the pages of a folder's crawls are. */
export function pageFilePath(folder: string): string {
  return join(folder, 'pages.sqlite');
}

/**
 * What the incremental crawls of a folder remember of pages, in a SQLite database beside their records. Crawls that go on at
 * the same time share it: each writes what it has found once a second, and the later fetch of a page counts. What a page has claimed
 * isn't written: each crawl begins without marks.
 */
export class PageFile implements PageTable {
  readonly #options: PageFileOptions;
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;
  readonly #upsert: StatementSync;
  readonly #timer: NodeJS.Timeout;
  readonly #unwritten = new Map<string, KnownPage>();
  #hasFailed = false;

  /** @throws StorageError if the file is something else, or can't be used */
  constructor(options: PageFileOptions) {
    this.#options = options;
    const path = pageFilePath(options.folder);
    try {
      makeOutputFolder(options.folder);
      // URLs may hold secrets in their query: SQLite would let others read.
      closeSync(openSync(path, 'a', JOURNAL_MODE));
      this.#database = openDatabase(path);
      this.#find = this.#database.prepare('SELECT * FROM pages WHERE mark = ?');
      this.#upsert = this.#database.prepare(UPSERT);
    } catch (error: unknown) {
      if (error instanceof StorageError) throw error;
      const problem = `${path} can't be used: ${messageOf(error)}. Without it, pages are fetched whole again`;
      throw new StorageError(problem, { cause: error });
    }
    this.#timer = setInterval(() => void this.#writeAfterRecords(), WRITE_EVERY_MS).unref();
  }

  get(mark: string, now: number): KnownPage | undefined {
    const page = this.#unwritten.get(mark) ?? this.#read(mark);
    return page !== undefined && now - page.fetchedAt < PAGE_RETENTION_MS ? page : undefined;
  }

  set(mark: string, page: KnownPage): void {
    this.#unwritten.set(mark, page);
  }

  forget(isMeant: (mark: string) => boolean): void {
    for (const mark of this.#unwritten.keys()) if (isMeant(mark)) this.#unwritten.delete(mark);
    const drop = this.#database.prepare('DELETE FROM pages WHERE mark = ?');
    const marks = this.#database.prepare('SELECT mark FROM pages').all();
    for (const { mark } of marks) if (isMeant(String(mark))) drop.run(String(mark));
  }

  /** Writes what is left, whose records must be on the disk by now. Safe to call twice. */
  close(): void {
    if (!this.#database.isOpen) return;
    clearInterval(this.#timer);
    this.#write(new Map(this.#unwritten), () =>
      this.#database.prepare('DELETE FROM pages WHERE fetched_at < ?').run(this.#options.now() - PAGE_RETENTION_MS),
    );
    this.#database.close();
  }

  /** What can't be read is fetched whole again. */
  #read(mark: string): KnownPage | undefined {
    try {
      return readRow(this.#find.get(mark));
    } catch (error: unknown) {
      this.#fail(error);
      return undefined;
    }
  }

  async #writeAfterRecords(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const pages = new Map(this.#unwritten);
    try {
      await this.#options.syncFirst();
    } catch (error: unknown) {
      this.#fail(error);
      return;
    }
    if (this.#database.isOpen) this.#write(pages);
  }

  #write(pages: ReadonlyMap<string, KnownPage>, also?: () => void): void {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      for (const [mark, { fetchedAt, etag = null, modified = null, contentHash, bytes, readAs }] of pages)
        this.#upsert.run(mark, fetchedAt, etag, modified, contentHash, bytes, readAs);
      also?.();
      this.#database.exec('COMMIT');
    } catch (error: unknown) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      this.#fail(error);
      return;
    }
    for (const [mark, page] of pages) if (this.#unwritten.get(mark) === page) this.#unwritten.delete(mark);
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onFailure(`${pageFilePath(this.#options.folder)}: ${messageOf(error)}`);
  }
}

function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
    if (Number(version) > VERSION)
      throw new StorageError(`${path} is of version ${version}, and this program knows no newer one than ${VERSION}`);
    useLog(database);
    if (Number(version) < VERSION) database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
    return database;
  } catch (error: unknown) {
    database.close();
    throw error;
  }
}

/** With a write-ahead log nobody waits for who reads, and no write for the disk. Where there can be none, it is done without. */
function useLog(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  } catch {
    // Another process is just opening it, or it lies on a network.
  }
}

function readRow(row: Readonly<Record<string, unknown>> | undefined): KnownPage | undefined {
  if (row === undefined) return undefined;
  const { fetched_at, etag, modified, content_hash, bytes, read_as } = row;
  return {
    fetchedAt: Number(fetched_at),
    ...(etag === null ? {} : { etag: String(etag) }),
    ...(modified === null ? {} : { modified: String(modified) }),
    contentHash: String(content_hash),
    bytes: Number(bytes),
    readAs: String(read_as),
  };
}
