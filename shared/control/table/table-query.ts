import type { PageRecord } from '../../ports/record.ts';
import { isObject } from '../../task/is-object.ts';
import { type Column, ColumnFinder, columnsOf } from './columns.ts';
import { type Condition, holds } from './condition.ts';
import { type FieldPath, type NamedPath, type Row, valueAt } from './field-path.ts';

/** A record, or a line of a list joined with its record, if it has one. */
export type TableRecord = Readonly<Record<string, unknown>>;

/** A query that turns the records of a run into the rows of a table. */
export interface TableQuery {
  /** Absent for all outcomes. */
  readonly outcome?: PageRecord['outcome'];
  /** The step whose records are selected; absent for all steps. */
  readonly step?: string;
  /** Pages on which a step found no item also have a row. */
  readonly hasEmpty?: boolean;
  /** A list with a row for each of its elements. */
  readonly each?: NamedPath;
  /** Without `each`: each of a page's several items is a row. Otherwise they share one row. */
  readonly isRowPerItem?: boolean;
  /** Conditions that a row must all meet. */
  readonly where: readonly Condition[];
  /** Absent for all columns found. */
  readonly columns?: readonly (Column & NamedPath)[];
}

/** Maximum number of steps noted. A crawler has a few. */
const MOST_STEPS = 100;

/** Fields that records have only if something happened. If no record has such a field, that is an answer and not a mistake. */
const OCCASIONAL = new Set(['reason', 'error', 'from', 'redirects', 'unchanged', 'truncated', 'insteadOf']);

/** Findings about the records of a step. */
export interface StepFound {
  /** The crawler, as the records name it. */
  readonly crawler: unknown;
  /** Has any record of the step a row? */
  hasRows: boolean;
}

/** Turns records into rows, and notes which of the named fields are in no record. */
export class TableReader {
  readonly #query: TableQuery;
  /** Columns of the rows in the table. */
  readonly #columns: ColumnFinder;
  /** Columns of all rows, as long as a named field has not been found. */
  readonly #names: ColumnFinder;
  /** The columns set by {@link know}. */
  #known: readonly Column[] | undefined;
  readonly #steps = new Map<string, StepFound>();
  readonly #otherOutcomes = new Set<unknown>();
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
   * Yields the rows of a record: one, or one for each of its items if the query says so, or with `each` one for each element of that list.
   * A value that is not a list gives one row, an empty list none. A page on which a step found nothing has no row, unless the query asks
   * for it. Conditions are checked last.
   */
  *rows(record: TableRecord): Generator<Row, void, void> {
    const { outcome, step, hasEmpty = false, where } = this.#query;
    if (outcome !== undefined && record.outcome !== outcome) {
      if (step === undefined || record.step === step) this.#otherOutcomes.add(record.outcome);
      return;
    }
    const found = this.#stepOf(record);
    // A joined line without a record has no step, and is kept.
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

  /** Returns a row as JSON: the named columns; otherwise the whole record, or all columns of the row if a list is unfolded. */
  jsonOf(row: Row): TableRecord {
    const { columns, each } = this.#query;
    if (columns === undefined && each === undefined) return row.record;
    // If columns were named, every row has all of them, null where absent.
    const [own, absent] = columns === undefined ? [columnsOf(row, each?.path)] : [columns, null];
    return Object.fromEntries(
      own.map(({ header, path }) => {
        const value = valueAt(row, path);
        return [header, value === undefined ? absent : value];
      }),
    );
  }

  /** The named or known columns, otherwise those of all rows so far. */
  get columns(): readonly Column[] {
    return this.#query.columns ?? this.#known ?? this.#columns.columns();
  }

  /** Sets the columns of the rows. Further fields of the items so far, which a middleware may have added, come last. */
  know(columns: readonly Column[]): void {
    this.#known = [...columns, ...this.#columns.ofItemsBeside(columns)];
  }

  /** Number of columns found beyond {@link columns}. */
  get columnsLeftOut(): number {
    return this.#known === undefined ? this.#columns.leftOut : this.#columns.beyond;
  }

  /** The steps of all records with the query's outcome, even steps that were not asked for. Empty for crawlers of one function. */
  get steps(): ReadonlyMap<string, StepFound> {
    return this.#steps;
  }

  /** Has any record of the query's step this outcome, although the query asks for another? */
  hasOther(outcome: PageRecord['outcome']): boolean {
    return this.#otherOutcomes.has(outcome);
  }

  /** Has any record more than one row, because it has several items? */
  get hasItemRows(): boolean {
    return this.#hasItemRows;
  }

  /** The named fields that no row has. Empty if there are no rows, since nothing is known then. */
  get missing(): readonly NamedPath[] {
    const { each } = this.#query;
    const noList = each !== undefined && this.#records > 0 && !this.#isListFound ? [each] : [];
    return [...noList, ...(this.#rows > 0 ? this.#missing : [])];
  }

  /** The names of fields in data and items, if something was {@link missing}. */
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
    // If the list is inside each of several items, it is unfolded item by item.
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
