import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { LIST } from '../../../shared/control/table/columns.ts';
import type { TableRecord } from '../../../shared/control/table/table-query.ts';
import type { PageRecord } from '../../../shared/ports/record.ts';
import { codeOf, messageOf, StorageError } from '../../../shared/runtime/errors.ts';
import { FIRST_STEP } from '../../../shared/task/url/fingerprint.ts';
import type { UrlKeyRule } from '../../../shared/task/url/url-key.ts';
import { type ListedUrl, type ListLine, taskOf } from './list-lines.ts';

/**
 * - `lines`: the list. `url` is null if the URL equals `given`, `others` holds the line's other cells, and `record` refers to the line's
 *   record.
 * - `tasks`: the tasks of each line in the joined run, at the first step and at every step that has records. The index is created after the
 *   tasks of the first step are inserted, which is much faster.
 */
const SCHEMA = `
CREATE TABLE lines (n INTEGER PRIMARY KEY, given TEXT NOT NULL, url TEXT, login TEXT, mark TEXT, others TEXT, record INTEGER);
CREATE TABLE tasks (line INTEGER NOT NULL, task TEXT NOT NULL, isFirst INTEGER NOT NULL);
CREATE TABLE records (n INTEGER PRIMARY KEY, json TEXT NOT NULL);
`;
/** Only this process reads the database, and a crash may destroy it. All is one transaction on an empty file, so the journal stays empty. */
const UNSAFE = 'PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE';
const CACHE_KIB = 8_000;
/** Lines handled before yielding to the event loop: a few milliseconds. */
const LINES_AT_ONCE = 1_000;
/** Maximum number of steps whose tasks are searched. A crawler has a few. */
const MOST_STEPS = 100;

/** The run that a list is joined with. */
interface JoinedRun {
  readonly run: string;
  readonly rules: readonly UrlKeyRule[] | undefined;
  /** If given, only records of this step are joined. */
  readonly step: string | undefined;
}

interface LineRow {
  readonly n: number;
  readonly given: string;
  readonly url: string | null;
  readonly login: string | null;
  readonly mark: string | null;
}

/**
 * A list of URLs joined with its lines' records, in a temporary database so that memory limits neither. Only a few megabytes are held in
 * memory, and a short list never reaches the disk. The file is unlinked as soon as it is open, so it disappears with the process however
 * that ends.
 */
export class JoinedList {
  readonly #folder: string;
  readonly #database: DatabaseSync;

  private constructor(folder: string, database: DatabaseSync) {
    this.#folder = folder;
    this.#database = database;
  }

  /** Reads a list. @throws StorageError if the temporary file can't be created or written; and whatever `lines` throws */
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

  /**
   * Keeps the records of a run that belong to lines of the list. Call it once. If a line has several records, the one of the first step
   * wins, otherwise the earliest.
   */
  async keep(records: AsyncIterable<PageRecord>, joined: JoinedRun): Promise<void> {
    await this.#written(async () => {
      await this.#findTasks(FIRST_STEP, joined);
      this.#database.exec('CREATE INDEX linesOf ON tasks (task)');
      await this.#addRecords(records, joined);
      this.#database.exec('COMMIT');
    });
  }

  /** Yields a record for each line, in the order of the list, with `given` and, if the list is a table, `list`: the line's other columns. */
  async *read(): AsyncGenerator<TableRecord, void, void> {
    const lines = this.#database.prepare(
      'SELECT given, mark, others, json FROM lines LEFT JOIN records ON records.n = lines.record ORDER BY lines.n',
    );
    for (const { given, mark, others, json } of lines.iterate()) {
      const record = json === null ? withoutRecord(mark !== null) : (JSON.parse(String(json)) as TableRecord);
      yield { given, ...(others === null ? {} : { [LIST]: JSON.parse(String(others)) }), ...record };
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
    const add = this.#database.prepare('INSERT INTO lines (given, url, login, mark, others) VALUES (?, ?, ?, ?, ?)');
    for await (const { given, url, others } of lines) {
      const [canonical, login, mark] =
        'mark' in url ? [null, null, url.mark] : [url.canonical, url.login ?? null, null];
      const cells = others === undefined ? null : JSON.stringify(others);
      add.run(given, canonical === given ? null : canonical, login, mark, cells);
    }
  }

  async #findTasks(step: string, { run, rules }: JoinedRun): Promise<void> {
    const lines = this.#database.prepare('SELECT n, given, url, login, mark FROM lines ORDER BY n');
    const add = this.#database.prepare('INSERT INTO tasks (line, task, isFirst) VALUES (?, ?, ?)');
    for (const row of lines.iterate() as Iterable<LineRow>) {
      add.run(row.n, taskOf(urlOf(row), step, run, rules), step === FIRST_STEP ? 1 : 0);
      // Lets an interrupt through.
      if (row.n % LINES_AT_ONCE === 0) await setImmediate();
    }
  }

  async #addRecords(records: AsyncIterable<PageRecord>, joined: JoinedRun): Promise<void> {
    const found = this.#database.prepare('SELECT isFirst FROM tasks WHERE task = ? LIMIT 1');
    const add = this.#database.prepare('INSERT INTO records (json) VALUES (?)');
    const refer = this.#database.prepare(
      'UPDATE lines SET record = ? WHERE n IN (SELECT line FROM tasks WHERE task = ?) AND (record IS NULL OR ?)',
    );
    const steps = new Set([FIRST_STEP]);
    for await (const record of records) {
      const { task, step } = record;
      if (joined.step !== undefined && step !== joined.step) continue;
      const ofTask = ('insteadOf' in record ? record.insteadOf : undefined) ?? step;
      if (!steps.has(ofTask) && steps.size < MOST_STEPS) {
        steps.add(ofTask);
        await this.#findTasks(ofTask, joined);
      }
      const line = found.get(task);
      if (line === undefined) continue;
      refer.run(add.run(JSON.stringify(record)).lastInsertRowid, task, Number(line.isFirst));
    }
  }

  /** Runs work that writes, and reports a failed write. Even reading can write, when the cache is full of unwritten pages. */
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

/** The row for a line without a record in this run: its URL was not among the seeds, or has not had its turn yet. */
function withoutRecord(isMalformed: boolean): TableRecord {
  return isMalformed ? { outcome: 'failed', reason: 'malformed' } : { outcome: 'unknown', reason: 'no_record' };
}
