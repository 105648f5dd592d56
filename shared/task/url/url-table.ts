/** Headers of a column with URLs, the most telling first: `url`, `urls`; `Page URL`, `image_url`. */
const SAYS_URL = [/^urls?$/i, /^\w{1,20}[ _-]urls?$/i];
/** Separators of columns, the most telling first. */
const SEPARATORS = ['\t', ';', ','] as const;

export type Separator = (typeof SEPARATORS)[number];

/** Message for a table whose header names no column of URLs, as the end of a sentence that begins with the file's name. */
export const NO_URL_COLUMN =
  'looks like a table, not a list of URLs: name its URL column url in the header line, or give only the URLs, one per line';

/** The column of a table that holds its URLs. */
export interface UrlColumn {
  /** Undefined if the table has no other column. */
  readonly separator: Separator | undefined;
  readonly index: number;
  /** Names of all columns, as in the header. */
  readonly names: readonly string[];
}

/**
 * The form of a list, according to its first line. `column`: the line is a header that names the column of the URLs. `table`: it has
 * columns, but doesn't say which one holds URLs. `list`: each line is a URL.
 */
export type ListForm = { readonly kind: 'list' | 'table' } | { readonly kind: 'column'; readonly column: UrlColumn };

/** Finds the form of a list from its first line that is neither blank nor a comment. */
export function formOfList(line: string): ListForm {
  const isUrl = /^"?https?:\/\//i.test(line);
  const separator = SEPARATORS.find((one) => line.includes(one));
  if (isUrl) {
    // A comma or semicolon alone may be part of the URL.
    const isRow = line.startsWith('"') || line.includes('\t') || /["\s]/.test(behindSeparator(line));
    return { kind: isRow ? 'table' : 'list' };
  }
  const names = cellsOf(line, separator);
  const said = SAYS_URL.find((pattern) => names.some((name) => pattern.test(name)));
  if (said !== undefined)
    return { kind: 'column', column: { separator, index: names.findIndex((name) => said.test(name)), names } };
  return { kind: separator === undefined ? 'list' : 'table' };
}

function behindSeparator(line: string): string {
  const at = line.search(/[,;]/);
  return at < 0 ? '' : line.slice(at + 1);
}

/**
 * Splits a row into its cells, without their quotes and the white space around them. Text after a cell's closing quote is dropped; a cell
 * without a closing quote is returned as written.
 *
 * @param most maximum cells to read
 */
export function cellsOf(row: string, separator: Separator | undefined, most = Number.POSITIVE_INFINITY): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= row.length && cells.length < most; ) {
    const start = withoutBlanks(row, at);
    const quoted = row[start] === '"' ? endOfQuoted(row, start + 1) : -1;
    const found = separator === undefined ? -1 : row.indexOf(separator, Math.max(quoted, start));
    const end = found < 0 ? row.length : found;
    const cell = quoted < 0 ? row.slice(start, end) : row.slice(start + 1, quoted - 1).replaceAll('""', '"');
    cells.push(cell.trim());
    at = end + 1;
  }
  return cells;
}

/** State of a row at the end of a line. `open`: inside a quoted cell. `broken`: something other than a separator follows a closing quote. */
export type RowState = 'ended' | 'open' | 'broken';

/**
 * Returns the state of a row after a line. A quote counts only at the beginning of a cell (RFC 4180 section 2).
 *
 * @param isOpen does the line begin inside a quoted cell?
 */
export function rowAfter(line: string, separator: Separator, isOpen: boolean): RowState {
  let at = isOpen ? 0 : withoutBlanks(line, 0);
  let isQuoted = isOpen || line[at] === '"';
  if (isQuoted && !isOpen) at++;
  for (;;) {
    if (isQuoted) {
      const end = endOfQuoted(line, at);
      if (end < 0) return 'open';
      at = withoutBlanks(line, end);
      if (at < line.length && line[at] !== separator) return 'broken';
    }
    const end = line.indexOf(separator, at);
    if (end < 0) return 'ended';
    at = withoutBlanks(line, end + 1);
    isQuoted = line[at] === '"';
    if (isQuoted) at++;
  }
}

/** Returns the position after a cell's closing quote, which is one that isn't doubled. Negative if there is none. */
function endOfQuoted(line: string, start: number): number {
  for (let at = line.indexOf('"', start); at >= 0; at = line.indexOf('"', at + 2)) {
    if (line[at + 1] !== '"') return at + 1;
  }
  return -1;
}

function withoutBlanks(line: string, start: number): number {
  let at = start;
  while (line[at] === ' ') at++;
  return at;
}
