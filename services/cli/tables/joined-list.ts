import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { TableRecord } from '../../../shared/control/table/table-query.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import { codeOf, messageOf, StorageError } from '../../../shared/runtime/errors.ts';
import type { UrlKeyRule } from '../../../shared/task/url/url-key.ts';
import { type ListedUrl, type ListLine, taskOf } from './list-lines.ts';

/**
 * - `lines`: the list. `url` is null where it is as it was given. `record` is the one that the line has.
 * - `tasks`: of each line, in the run that it is joined with. Indexed once all are there, which is much faster.
 */
const SCHEMA = `
CREATE TABLE lines (n INTEGER PRIMARY KEY, given TEXT NOT NULL, url TEXT, login TEXT, mark TEXT, record INTEGER);
CREATE TABLE tasks (line INTEGER PRIMARY KEY, task TEXT NOT NULL);
CREATE TABLE records (n INTEGER PRIMARY KEY, json TEXT NOT NULL);
`;
/** Nobody reads it but this process, and a crash may take it. In its one transaction nothing but an empty file is journalled. */
const UNSAFE = 'PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE';
const CACHE_KIB = 8_000;
/** Lines between two turns of the event loop: some milliseconds. */
const LINES_AT_ONCE = 1_000;

interface LineRow {
  readonly n: number;
  readonly given: string;
  readonly url: string | null;
  readonly login: string | null;
  readonly mark: string | null;
}

/**
 * A list of URLs, and the records of its lines: in a temporary database, so that memory bounds neither. Only a few megabytes of it are
 * in memory; a short list never gets to the disk. Its file has no name any more once it is open, and goes with the process, however that
 * ends.
 */
export class JoinedList {
  readonly #folder: string;
  readonly #database: DatabaseSync;

  private constructor(folder: string, database: DatabaseSync) {
    this.#folder = folder;
    this.#database = database;
  }

  /** @throws StorageError if there can be no temporary file, or it can't be written, and as `lines` does */
  static async of(lines: AsyncIterable<ListLine>): Promise<JoinedList> {
    const list = JoinedList.#open();
    try {
      await list.#written(() => list.#add(lines));
      return list;
    } catch (error: unknown) {
      list.close();
      throw error;
    }
  }

  /** Keeps those records of a run that lines of the list have. Once only. */
  async keep(records: AsyncIterable<PageRecord>, run: string, rules: readonly UrlKeyRule[] | undefined): Promise<void> {
    await this.#written(async () => {
      await this.#findTasks(run, rules);
      await this.#addRecords(records);
      this.#database.exec('COMMIT');
    });
  }

  /** A record for each line, in the order of the list, with `given`. */
  async *read(): AsyncGenerator<TableRecord, void, void> {
    const lines = this.#database.prepare(
      'SELECT given, mark, json FROM lines LEFT JOIN records ON records.n = lines.record ORDER BY lines.n',
    );
    for (const { given, mark, json } of lines.iterate()) {
      const record = json === null ? withoutRecord(mark !== null) : (JSON.parse(String(json)) as TableRecord);
      yield { given, ...record };
    }
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  static #open(): JoinedList {
    let folder = tmpdir();
    try {
      folder = mkdtempSync(join(folder, 'trawl-join-'));
      try {
        const database = new DatabaseSync(join(folder, 'list'));
        database.exec(`${UNSAFE}; PRAGMA cache_size = -${CACHE_KIB}; BEGIN; ${SCHEMA}`);
        return new JoinedList(folder, database);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    } catch (error: unknown) {
      throw unwritable(folder, error);
    }
  }

  async #add(lines: AsyncIterable<ListLine>): Promise<void> {
    const add = this.#database.prepare('INSERT INTO lines (given, url, login, mark) VALUES (?, ?, ?, ?)');
    for await (const { given, url } of lines) {
      const [canonical, login, mark] =
        'mark' in url ? [null, null, url.mark] : [url.canonical, url.login ?? null, null];
      add.run(given, canonical === given ? null : canonical, login, mark);
    }
  }

  async #findTasks(run: string, rules: readonly UrlKeyRule[] | undefined): Promise<void> {
    const lines = this.#database.prepare('SELECT n, given, url, login, mark FROM lines ORDER BY n');
    const add = this.#database.prepare('INSERT INTO tasks (line, task) VALUES (?, ?)');
    for (const row of lines.iterate() as Iterable<LineRow>) {
      add.run(row.n, taskOf(urlOf(row), run, rules));
      // Whoever interrupts it is heard.
      if (row.n % LINES_AT_ONCE === 0) await setImmediate();
    }
    this.#database.exec('CREATE INDEX linesOf ON tasks (task)');
  }

  async #addRecords(records: AsyncIterable<PageRecord>): Promise<void> {
    const isListed = this.#database.prepare('SELECT 1 FROM tasks WHERE task = ? LIMIT 1');
    const add = this.#database.prepare('INSERT INTO records (json) VALUES (?)');
    const refer = this.#database.prepare(
      'UPDATE lines SET record = ? WHERE n IN (SELECT line FROM tasks WHERE task = ?)',
    );
    for await (const record of records) {
      if (isListed.get(record.task) === undefined) continue;
      refer.run(add.run(JSON.stringify(record)).lastInsertRowid, record.task);
    }
  }

  /** Reading writes, too, when the cache is full of what isn't written yet. */
  async #written(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error: unknown) {
      throw codeOf(error) === 'ERR_SQLITE_ERROR' ? unwritable(this.#folder, error) : error;
    }
  }
}

function urlOf({ given, url, login, mark }: LineRow): ListedUrl {
  return mark === null ? { canonical: url ?? given, login: login ?? undefined } : { mark };
}

function unwritable(folder: string, error: unknown): StorageError {
  return new StorageError(`${folder} can't be written: ${messageOf(error)} (TMPDIR)`, { cause: error });
}

/** What is known of a line that the run has no record of: it was not among its seeds, or hasn't come to its turn. */
function withoutRecord(isMalformed: boolean): TableRecord {
  return isMalformed ? { outcome: 'failed', reason: 'malformed' } : { outcome: 'unknown', reason: 'no_record' };
}
