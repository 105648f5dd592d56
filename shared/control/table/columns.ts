import { ARTICLE_FIELDS } from '../../ports/record.ts';
import { UsageError } from '../../runtime/errors.ts';
import { isObject } from '../../task/is-object.ts';
import { type FieldPath, ITEM, type NamedPath, PATH_EXAMPLES, parsePath, type Row } from './field-path.ts';
import { FIRST, GIVEN, LAST, STEP } from './record-columns.ts';

/** A column of a table. */
export interface Column {
  readonly header: string;
  readonly path: FieldPath;
}

/** Maximum number of columns found. */
export const MOST_COLUMNS = 200;

/** The field of a record whose own fields are columns. */
const ARTICLE = 'article';
/** The other cells of that line, if the joined list is a table: header → text. */
export const LIST = 'list';
const BESIDE = [GIVEN, ...LAST];
/** A column only if named: it is longer than all the rest of most records. */
const ONLY_WHEN_NAMED = 'links';
const MOST_COUNTED = 10_000;

/**
 * Reads `--fields`: `name,Price=offers[0].price`.
 *
 * @throws UsageError if one is not a column, or two have the same header
 */
export function readColumns(text: string): readonly (Column & NamedPath)[] {
  const columns = text.split(',').map((written) => readColumn(written.trim(), text));
  const headers = columns.map(({ header }) => header);
  const twice = headers.find((header, index) => headers.indexOf(header) !== index);
  if (twice !== undefined)
    throw new UsageError(`expected each column of --fields once, got "${twice}" twice: write OTHER=${twice}`);
  return columns;
}

function readColumn(written: string, all: string): Column & NamedPath {
  const sign = written.indexOf('=');
  const name = written.slice(sign + 1).trim();
  const path = parsePath(name);
  const header = (sign < 0 ? written : written.slice(0, sign)).trim();
  if (path === undefined || header === '')
    throw new UsageError(
      `expected --fields to be columns like title or Price=offers[0].price, of paths like ${PATH_EXAMPLES}, got "${written}"${written === all ? '' : ` in "${all}"`}`,
    );
  return { header, path, flag: '--fields', text: name };
}

/** Returns the columns of items that have exactly these fields. */
export function columnsOfItems(fields: readonly string[]): readonly Column[] {
  return fields.map((name) => ({ header: name, path: { from: 'item', name } }));
}

/** Returns the columns of a single row: the first fields of its record, the fields of its data and item, then the record's other fields. */
export function columnsOf(row: Row, each: FieldPath | undefined): readonly Column[] {
  const finder = new ColumnFinder(each);
  finder.see(row);
  return finder.columns();
}

/** Finds the columns of a table, row by row. */
export class ColumnFinder {
  readonly #each: FieldPath | undefined;
  readonly #ofRecord = new Set<string>(FIRST);
  /** Headers of the table that the records are joined with. */
  readonly #listed = new Set<string>();
  readonly #ofArticle = new Set<string>();
  readonly #own = new Map<string, FieldPath>();
  readonly #beyond = new Set<string>();
  /** The step of the first row. */
  #step: unknown;

  /** @param each the unfolded list, which is not a column beside its own elements */
  constructor(each?: FieldPath) {
    this.#each = each;
  }

  /** Notes the fields of a row. */
  see(row: Row): void {
    const { item, data, record } = row;
    for (const name of BESIDE) if (Object.hasOwn(record, name)) this.#ofRecord.add(name);
    const { [LIST]: listed } = record;
    if (isObject(listed)) for (const name of Object.keys(listed)) this.#listed.add(name);
    const { [ARTICLE]: article } = record;
    if (isObject(article)) for (const name of ARTICLE_FIELDS) if (name in article) this.#ofArticle.add(name);
    this.#step ??= record[STEP];
    if (this.#step !== record[STEP]) this.#ofRecord.add(STEP);
    if (item !== data && isObject(data)) {
      const unfolded = this.#each?.from === 'any' ? this.#each.name : undefined;
      for (const name of Object.keys(data)) if (name !== unfolded) this.#add(name);
    }
    if (isObject(item)) for (const name of Object.keys(item)) this.#add(name);
    else if (item !== undefined && item !== null) this.#own.set(headerOfItem(this.#each), ITEM);
  }

  /** Returns the columns found, in order. */
  columns(): readonly Column[] {
    const isThere = (name: string): boolean => this.#ofRecord.has(name);
    const all = new Map<string, FieldPath>();
    if (isThere(GIVEN)) all.set(GIVEN, pathOf(GIVEN));
    for (const name of this.#listed) all.set(headerOfListed(name), { from: 'record', name: LIST, rest: [name] });
    for (const name of [...FIRST, STEP].filter(isThere)) all.set(name, pathOf(name));
    for (const [header, path] of this.#own) all.set(header, path);
    for (const name of ARTICLE_FIELDS.filter((each) => this.#ofArticle.has(each)))
      all.set(`${ARTICLE}.${name}`, { from: 'record', name: ARTICLE, rest: [name] });
    for (const name of LAST.filter(isThere)) if (!all.has(name)) all.set(name, pathOf(name));
    return Array.from(all, ([header, path]) => ({ header, path })).slice(0, MOST_COLUMNS);
  }

  /** Returns the item fields that are not among these columns, as columns. */
  ofItemsBeside(columns: readonly Column[]): readonly Column[] {
    const known = new Set(columns.map(({ header }) => header));
    return columnsOfItems([...this.#own].flatMap(([name, path]) => (known.has(name) || path === ITEM ? [] : [name])));
  }

  /** Number of names beyond those that are kept. A lower bound if there are very many. */
  get beyond(): number {
    return this.#beyond.size;
  }

  /** The names of fields in data and items, in the order found. */
  get names(): readonly string[] {
    return [...this.#own.keys()];
  }

  /** The columns of the table that the records are joined with. */
  get listed(): readonly string[] {
    return Array.from(this.#listed, headerOfListed);
  }

  /** Number of columns beyond {@link MOST_COLUMNS}. A lower bound if there are very many. */
  get leftOut(): number {
    const nested = this.#listed.size + this.#ofArticle.size;
    const all = new Set([...this.#ofRecord, ...this.#own.keys()]).size + nested + this.#beyond.size;
    return Math.max(0, all - MOST_COLUMNS);
  }

  #add(name: string): void {
    if (name === ONLY_WHEN_NAMED || this.#own.has(name)) return;
    if (this.#own.size < MOST_COLUMNS) this.#own.set(name, pathOf(name));
    // The number is limited, since every page could have different field names.
    else if (this.#beyond.size < MOST_COUNTED) this.#beyond.add(name);
  }
}

function headerOfListed(name: string): string {
  return `${LIST}.${name}`;
}

function pathOf(name: string): FieldPath {
  return { from: 'any', name, rest: [] };
}

/** Returns the header for items that are not objects: the last name in the path of their list. */
function headerOfItem(each: FieldPath | undefined): string {
  if (each === undefined || each.from === 'item') return 'data';
  return [each.name, ...each.rest].findLast((step) => typeof step === 'string') ?? each.name;
}
