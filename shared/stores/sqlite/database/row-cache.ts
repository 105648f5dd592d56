import type { SQLInputValue } from 'node:sqlite';
import { BoundedMap } from '../../../runtime/collections/bounded-map.ts';
import type { LocalDatabase } from './database.ts';

/** The value of a column. */
export type Value = SQLInputValue;

interface Kept<Row> {
  readonly row: Row;
  /** The row as it is in the database, never changed; undefined if it isn't there yet. */
  before: Row | undefined;
}

/** Maximum rows remembered of each table; about 500 bytes each. */
const MOST_REMEMBERED = 10_000;

/** The most recently used rows of one table, as of the last transaction's end. They are valid until another store writes. */
export class RowMemory<Row extends {}> extends BoundedMap<string, Row> {
  constructor() {
    super(MOST_REMEMBERED);
  }
}

interface Table<Row extends {}> {
  readonly name: string;
  readonly keys: readonly (keyof Row & string)[];
  readonly memory: RowMemory<Row>;
}

/**
 * Rows of one table during one transaction: each is read at most once, changed as an object, and written back. Only columns that
 * differ are written, since an `UPDATE` rewrites every index that has a column it names.
 */
export class RowCache<Row extends Readonly<Record<keyof Row, Value>>> {
  readonly #database: LocalDatabase;
  readonly #table: string;
  readonly #keys: readonly (keyof Row & string)[];
  readonly #where: string;
  readonly #memory: RowMemory<Row>;
  readonly #kept = new Map<string, Kept<Row>>();

  constructor(database: LocalDatabase, { name, keys, memory }: Table<Row>) {
    this.#database = database;
    this.#table = name;
    this.#keys = keys;
    this.#memory = memory;
    this.#where = keys.map((key) => `${key} = ?`).join(' AND ');
  }

  /** Returns the row with these keys, or the one that `otherwise` makes, which `flush` inserts if it is needed. */
  get(keys: readonly Value[], otherwise: () => Row): Row {
    const name = keys.join('\n');
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      kept = this.#read(name, keys) ?? { row: otherwise(), before: undefined };
      this.#kept.set(name, kept);
    }
    return kept.row;
  }

  find(keys: readonly Value[]): Row | undefined {
    const name = keys.join('\n');
    const kept = this.#kept.get(name) ?? this.#read(name, keys);
    if (kept !== undefined) this.#kept.set(name, kept);
    return kept?.row;
  }

  /**
   * Writes back what has changed. Rows that are not `isNeeded` are deleted, or not inserted.
   *
   * @param isLast whether no row is changed in this transaction any more
   */
  flush(isLast: boolean, isNeeded: (row: Row) => boolean = () => true): void {
    const written = (row: Row): Row => (isLast ? row : { ...row });
    for (const [name, kept] of this.#kept) {
      const { row, before } = kept;
      if (!isNeeded(row)) {
        if (before !== undefined) this.#delete(row);
        this.#kept.delete(name);
        this.#memory.delete(name);
      } else if (before === undefined) {
        this.#insert(row);
        kept.before = written(row);
      } else if (this.#update(row, before)) kept.before = written(row);
    }
  }

  /** Called after a commit, when everything is written back, so that the next transaction needn't read these rows again. */
  remember(): void {
    for (const [name, { before }] of this.#kept) if (before !== undefined) this.#memory.set(name, before);
  }

  /** Forgets everything that was read, or changed and not written back. */
  clear(): void {
    this.#kept.clear();
    this.#memory.clear();
  }

  #read(name: string, keys: readonly Value[]): Kept<Row> | undefined {
    const before =
      this.#memory.get(name) ?? this.#database.get<Row>(`SELECT * FROM ${this.#table} WHERE ${this.#where}`, ...keys);
    return before === undefined ? undefined : { row: { ...before }, before };
  }

  #insert(row: Row): void {
    const columns = Object.keys(row) as (keyof Row & string)[];
    const places = columns.map(() => '?').join(', ');
    const values = columns.map((column) => row[column]);
    this.#database.run(`INSERT INTO ${this.#table} (${columns.join(', ')}) VALUES (${places})`, ...values);
  }

  /** Returns whether anything had changed. */
  #update(row: Row, before: Row): boolean {
    let set = '';
    const values: Value[] = [];
    for (const column in row) {
      if (row[column] === before[column]) continue;
      set += set === '' ? `${column} = ?` : `, ${column} = ?`;
      values.push(row[column]);
    }
    if (set === '') return false;
    for (const key of this.#keys) values.push(row[key]);
    this.#database.run(`UPDATE ${this.#table} SET ${set} WHERE ${this.#where}`, ...values);
    return true;
  }

  #delete(row: Row): void {
    this.#database.run(`DELETE FROM ${this.#table} WHERE ${this.#where}`, ...this.#keys.map((key) => row[key]));
  }
}
