import type { PageRecord } from '../../ports/record.ts';
import { isObject } from '../../task/is-object.ts';
import { type Column, ColumnFinder, columnsOf } from './columns.ts';
import { type Condition, holds } from './condition.ts';
import { type FieldPath, type NamedPath, type Row, valueAt } from './field-path.ts';

/** A record, or a line of a list that has one at most. */
export type TableRecord = Readonly<Record<string, unknown>>;

/** What of a run's records makes the rows of a table. */
export interface TableQuery {
  /** Left out: all. */
  readonly outcome?: PageRecord['outcome'];
  /** Of a crawler with steps, the one whose records are meant. Left out: all. */
  readonly step?: string;
  /** Pages on which a step found no item have a row, too. */
  readonly hasEmpty?: boolean;
  /** A list with a row for each of its elements. */
  readonly each?: NamedPath;
  /** Without `each`, of a page on which a step found several items, each is a row; else all of them are one. */
  readonly isRowPerItem?: boolean;
  /** All must hold, of the row. */
  readonly where: readonly Condition[];
  /** Left out: whatever there is. */
  readonly columns?: readonly (Column & NamedPath)[];
}

/** Steps that are noted at most: a crawler has a few. */
const MOST_STEPS = 100;

/** Fields that records have only where something happened: that none has one is an answer, and no mistake. */
const OCCASIONAL = new Set(['reason', 'error', 'from', 'redirects', 'unchanged', 'truncated', 'insteadOf']);

/** What was found in the records of a step. */
export interface StepFound {
  /** As its records name it. */
  readonly crawler: unknown;
  /** Has a record of it a row? */
  hasRows: boolean;
}

/** Makes rows of records, and notes which of the named fields are nowhere. */
export class TableReader {
  readonly #query: TableQuery;
  /** Of the rows of the table. */
  readonly #columns: ColumnFinder;
  /** Of all rows, while a named field has not been found. */
  readonly #names: ColumnFinder;
  /** Those that the rows are known to have. */
  #known: readonly Column[] | undefined;
  readonly #steps = new Map<string, StepFound>();
  #missing: readonly NamedPath[];
  #records = 0;
  #rows = 0;
  #isListFound = false;
  #hasItemRows = false;

  constructor(query: TableQuery) {
    this.#query = query;
    this.#columns = new ColumnFinder(query.each?.path);
    this.#names = new ColumnFinder(query.each?.path);
    this.#missing = [...(query.columns ?? []), ...query.where].filter(({ path }) => !isOccasional(path));
  }

  /**
   * The rows of a record: one, or one for each of its items if the query says so, or with `each` one for each element of that list. What is no list is one row, and an empty list
   * none; nor has a page on which a step found nothing, unless that is asked for. Conditions are checked last.
   */
  *rows(record: TableRecord): Generator<Row, void, void> {
    const { outcome, step, hasEmpty = false, where } = this.#query;
    if (outcome !== undefined && record.outcome !== outcome) return;
    const found = this.#stepOf(record);
    // A line of a list that has no record has no step either.
    if (step !== undefined && record.step !== step && record.task !== undefined) return;
    if (record.items === 0 && !hasEmpty) return;
    this.#records++;
    for (const row of this.#unfold(record)) {
      if (found !== undefined) found.hasRows = true;
      this.#look(row);
      if (!where.every((condition) => holds(condition, row))) continue;
      if (this.#query.columns === undefined) this.#columns.see(row);
      yield row;
    }
  }

  /** A row in JSON: the columns that were named; else the whole record, or what a row of an unfolded list has. */
  jsonOf(row: Row): TableRecord {
    const { columns, each } = this.#query;
    if (columns === undefined && each === undefined) return row.record;
    // Where columns were named, every row has all of them.
    const [own, absent] = columns === undefined ? [columnsOf(row, each?.path)] : [columns, null];
    return Object.fromEntries(
      own.map(({ header, path }) => {
        const value = valueAt(row, path);
        return [header, value === undefined ? absent : value];
      }),
    );
  }

  /** Those that were named or are known, or else of all rows so far. */
  get columns(): readonly Column[] {
    return this.#query.columns ?? this.#known ?? this.#columns.columns();
  }

  /** Says which columns the rows have. Fields that the items so far have besides, since a middleware has added them, stand behind. */
  know(columns: readonly Column[]): void {
    this.#known = [...columns, ...this.#columns.ofItemsBeside(columns)];
  }

  /** How many columns were found beyond {@link columns}. */
  get columnsLeftOut(): number {
    return this.#known === undefined ? this.#columns.leftOut : this.#columns.beyond;
  }

  /** The steps of the records of that outcome, those that weren't asked for included. None of crawlers of one function. */
  get steps(): ReadonlyMap<string, StepFound> {
    return this.#steps;
  }

  /** Has a record more than one row, since it has several items? */
  get hasItemRows(): boolean {
    return this.#hasItemRows;
  }

  /** What was named and found nowhere. Of no rows, nothing can be said. */
  get missing(): readonly NamedPath[] {
    const { each } = this.#query;
    const noList = each !== undefined && this.#records > 0 && !this.#isListFound ? [each] : [];
    return [...noList, ...(this.#rows > 0 ? this.#missing : [])];
  }

  /** The names that data and items have, if something was {@link missing}. */
  get names(): readonly string[] {
    return this.#names.names;
  }

  /** The columns of the table that the records are joined with, if something was {@link missing}. */
  get listed(): readonly string[] {
    return this.#names.listed;
  }

  *#unfold(record: TableRecord): Generator<Row, void, void> {
    const { each, isRowPerItem = false } = this.#query;
    const { data } = record;
    const whole = { item: data, data, record };
    const items = hasSeveral(record) && Array.isArray(data) ? data : undefined;
    if (each === undefined) {
      if (items === undefined || !isRowPerItem) yield whole;
      else for (const item of items) yield { ...whole, item };
      this.#hasItemRows ||= items !== undefined && isRowPerItem;
      return;
    }
    // A list within each of several items is unfolded with its own item around it.
    const { path } = each;
    const hasList = (item: unknown): boolean => path.from === 'any' && isObject(item) && Object.hasOwn(item, path.name);
    const withinItems = items?.some(hasList) === true ? items : undefined;
    for (const around of withinItems?.map((item: unknown) => ({ item, data: item, record })) ?? [whole]) {
      const found = valueAt(around, each.path);
      this.#isListFound ||= found !== undefined;
      for (const item of Array.isArray(found) ? found : [found]) yield { ...around, item };
    }
  }

  #stepOf({ step, crawler }: TableRecord): StepFound | undefined {
    if (typeof step !== 'string' || step === '') return undefined;
    const known = this.#steps.get(step);
    if (known !== undefined || this.#steps.size === MOST_STEPS) return known;
    const found = { crawler, hasRows: false };
    this.#steps.set(step, found);
    return found;
  }

  #look(row: Row): void {
    this.#rows++;
    if (this.#missing.length === 0) return;
    this.#names.see(row);
    this.#missing = this.#missing.filter(({ path }) => valueAt(row, path) === undefined);
  }
}

function isOccasional(path: FieldPath): boolean {
  return path.from !== 'item' && OCCASIONAL.has(path.name);
}

function hasSeveral({ items }: TableRecord): boolean {
  return typeof items === 'number' && items > 1;
}
