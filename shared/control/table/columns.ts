import { ARTICLE_FIELDS } from '../../ports/record.ts';
import { UsageError } from '../../runtime/errors.ts';
import { isObject } from '../../task/is-object.ts';
import { type FieldPath, ITEM, type NamedPath, PATH_EXAMPLES, parsePath, type Row } from './field-path.ts';

/** A column of a table. */
export interface Column {
  readonly header: string;
  readonly path: FieldPath;
}

/** Columns found at most. */
export const MOST_COLUMNS = 200;

/** Fields of a record that stand before those of its data, whether a record has them or not. */
const FIRST = ['url', 'finalUrl', 'outcome', 'reason', 'status', 'title'] as const;
/** Of the records of several steps. */
const STEP = 'step';
/** Those that stand behind, if a record has them. */
const LAST = [
  'error',
  'from',
  'contentType',
  'bytes',
  'fetchedAt',
  'durationMs',
  'attempt',
  'depth',
  'fromCache',
  'unchanged',
  'truncated',
  'contentHash',
  'task',
  'redirects',
  'contentOf',
  'content',
] as const;
/** A field of a record whose own fields are columns. */
const ARTICLE = 'article';
/** Of a list that the records are joined with: the line as it was given. */
const GIVEN = 'given';
/** Of such a list that is a table: what its other columns have, by their headers. */
export const LIST = 'list';
const BESIDE = [GIVEN, ...LAST];
/** Longer than all the rest of most pages. */
const ONLY_WHEN_NAMED = 'links';
const MOST_COUNTED = 10_000;

/**
 * Reads `--fields`: `name,Price=offers[0].price`.
 *
 * @throws UsageError if one is no column, or two have the same header
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

/** The columns of items that have these fields and no others. */
export function columnsOfItems(fields: readonly string[]): readonly Column[] {
  return fields.map((name) => ({ header: name, path: { from: 'item', name } }));
}

/** The columns that a row has by itself: those of the record, then those of its data and its item, then the record's others. */
export function columnsOf(row: Row, each: FieldPath | undefined): readonly Column[] {
  const finder = new ColumnFinder(each);
  finder.see(row);
  return finder.columns();
}

/** Finds the columns of a table, row by row. */
export class ColumnFinder {
  readonly #each: FieldPath | undefined;
  readonly #ofRecord = new Set<string>(FIRST);
  /** Of the table that the records are joined with. */
  readonly #listed = new Set<string>();
  readonly #ofArticle = new Set<string>();
  readonly #own = new Map<string, FieldPath>();
  readonly #beyond = new Set<string>();
  /** Of the first row. */
  #step: unknown;

  /** @param each what is unfolded: it is no column beside its own items */
  constructor(each?: FieldPath) {
    this.#each = each;
  }

  /** Notes what a row has. */
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

  /** In their order. */
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

  /** Of rows that are items, the columns that they have besides these. */
  ofItemsBeside(columns: readonly Column[]): readonly Column[] {
    const known = new Set(columns.map(({ header }) => header));
    return columnsOfItems([...this.#own].flatMap(([name, path]) => (known.has(name) || path === ITEM ? [] : [name])));
  }

  /** How many names there are beyond those that are kept; at least, if there are very many. */
  get beyond(): number {
    return this.#beyond.size;
  }

  /** The names that data and items have, in the order in which they were found. */
  get names(): readonly string[] {
    return [...this.#own.keys()];
  }

  /** The columns of the table that the records are joined with. */
  get listed(): readonly string[] {
    return Array.from(this.#listed, headerOfListed);
  }

  /** How many columns there are beyond {@link MOST_COLUMNS}; at least, if there are very many. */
  get leftOut(): number {
    const nested = this.#listed.size + this.#ofArticle.size;
    const all = new Set([...this.#ofRecord, ...this.#own.keys()]).size + nested + this.#beyond.size;
    return Math.max(0, all - MOST_COLUMNS);
  }

  #add(name: string): void {
    if (name === ONLY_WHEN_NAMED || this.#own.has(name)) return;
    if (this.#own.size < MOST_COLUMNS) this.#own.set(name, pathOf(name));
    // A page may name its fields as it likes: each a different one, say.
    else if (this.#beyond.size < MOST_COUNTED) this.#beyond.add(name);
  }
}

function headerOfListed(name: string): string {
  return `${LIST}.${name}`;
}

function pathOf(name: string): FieldPath {
  return { from: 'any', name, rest: [] };
}

/** The header of items without names: the last name of the path they are at. */
function headerOfItem(each: FieldPath | undefined): string {
  if (each === undefined || each.from === 'item') return 'data';
  return [each.name, ...each.rest].findLast((step) => typeof step === 'string') ?? each.name;
}
