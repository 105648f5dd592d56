import type { SQLInputValue } from 'node:sqlite';
import type { LocalDatabase } from './database.ts';

/** What a row is made of in SQLite. */
export type Value = SQLInputValue;

interface Kept<Row> {
  readonly row: Row;
  /** As it is in the database; nothing if it isn't there yet. */
  before: Row | undefined;
}

/**
 * Rows of one table during one transaction: each is read once, changed as an object, and written back in the columns that differ. Only
 * those: an index is written anew for each of its columns that an `UPDATE` names.
 */
export class RowCache<Row extends Readonly<Record<keyof Row, Value>>> {
  readonly #database: LocalDatabase;
  readonly #table: string;
  readonly #keys: readonly (keyof Row & string)[];
  readonly #where: string;
  readonly #kept = new Map<string, Kept<Row>>();

  constructor(database: LocalDatabase, table: string, keys: readonly (keyof Row & string)[]) {
    this.#database = database;
    this.#table = table;
    this.#keys = keys;
    this.#where = keys.map((key) => `${key} = ?`).join(' AND ');
  }

  /** The row with these keys, or the one that `otherwise` makes, which is inserted unless it stays as it was made. */
  get(keys: readonly Value[], otherwise: () => Row): Row {
    const name = keys.join('\n');
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      kept = this.#read(keys) ?? { row: otherwise(), before: undefined };
      this.#kept.set(name, kept);
    }
    return kept.row;
  }

  find(keys: readonly Value[]): Row | undefined {
    const name = keys.join('\n');
    const kept = this.#kept.get(name) ?? this.#read(keys);
    if (kept !== undefined) this.#kept.set(name, kept);
    return kept?.row;
  }

  /** Writes back what has changed; `isNeeded` says of each row whether it is worth keeping at all. */
  flush(isNeeded: (row: Row) => boolean = () => true): void {
    for (const [name, kept] of this.#kept) {
      const { row, before } = kept;
      if (!isNeeded(row)) {
        if (before !== undefined) this.#delete(row);
        this.#kept.delete(name);
      } else if (before === undefined) {
        this.#insert(row);
        kept.before = { ...row };
      } else this.#update(row, before);
    }
  }

  /** Forgets all that was read, and what was not written back. */
  clear(): void {
    this.#kept.clear();
  }

  #read(keys: readonly Value[]): Kept<Row> | undefined {
    const found = this.#database.get<Row>(`SELECT * FROM ${this.#table} WHERE ${this.#where}`, ...keys);
    return found === undefined ? undefined : { row: found, before: { ...found } };
  }

  #insert(row: Row): void {
    const columns = Object.keys(row) as (keyof Row & string)[];
    const places = columns.map(() => '?').join(', ');
    const values = columns.map((column) => row[column]);
    this.#database.run(`INSERT INTO ${this.#table} (${columns.join(', ')}) VALUES (${places})`, ...values);
  }

  #update(row: Row, before: Row): void {
    let set = '';
    const values: Value[] = [];
    for (const column in row) {
      if (row[column] === before[column]) continue;
      set += set === '' ? `${column} = ?` : `, ${column} = ?`;
      values.push(row[column]);
      before[column] = row[column];
    }
    if (set === '') return;
    for (const key of this.#keys) values.push(row[key]);
    this.#database.run(`UPDATE ${this.#table} SET ${set} WHERE ${this.#where}`, ...values);
  }

  #delete(row: Row): void {
    this.#database.run(`DELETE FROM ${this.#table} WHERE ${this.#where}`, ...this.#keys.map((key) => row[key]));
  }
}
