import { MAX_URL_LENGTH } from './url.ts';
import { cellsOf, formOfList, type ListForm, type RowState, rowAfter, type UrlColumn } from './url-table.ts';

/** Maximum characters of a table's row. A longer one is cut, and its quoted cells don't continue on the next line. */
const MAX_ROW_LENGTH = 1_048_576;

/** A row of a table that has a URL. */
export interface UrlRow {
  /** The row as written, including line ends inside quoted cells. */
  readonly text: string;
  readonly column: UrlColumn;
}

/**
 * Reads a list of URLs, one per line, as its text arrives. Blank lines and lines that begin with `#` are skipped; a byte order
 * mark and white space around a URL are dropped. Lines are not checked to be URLs. An overlong line is cut, but remains too
 * long for a URL, so that it is reported as malformed rather than lost.
 *
 * If the list is a table whose header names a column of URLs, that column is read; quoted cells may contain line ends. Any
 * other table yields nothing.
 */
export class ListReader<T> {
  readonly #entryOf: (url: string, row?: UrlRow) => T;
  #rest = '';
  #isCut = false;
  #form: ListForm | undefined;
  /** The lines so far of a row that continues after a line end. */
  #row: string[] = [];
  #rowLength = 0;

  /** @param entryOf makes an entry from each URL, and from its row if the list is a table */
  constructor(entryOf: (url: string, row?: UrlRow) => T) {
    this.#entryOf = entryOf;
  }

  /** Is the list a table that doesn't say which column holds URLs? */
  get isTable(): boolean {
    return this.#form?.kind === 'table';
  }

  /** Reads a chunk and returns the entries of the lines that it completed. */
  write(chunk: string): readonly T[] {
    const lines = chunk.split(/\r\n?|\n/);
    const last = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = this.#rest + (this.#isCut ? '' : lines[0]);
      this.#rest = '';
      this.#isCut = false;
    }
    if (!this.#isCut) this.#rest += last;
    const most = this.#form?.kind === 'column' ? MAX_ROW_LENGTH : MAX_URL_LENGTH;
    if (this.#rest.length > most) {
      this.#rest = this.#rest.trimStart().slice(0, most + 1);
      this.#isCut = this.#rest.length > most;
    }
    return this.#entriesOf(lines);
  }

  /** Ends the list and returns the entries of its last line, which needs no line end. */
  end(): readonly T[] {
    const last = this.#rest;
    this.#rest = '';
    const entries = this.#entriesOf([last]);
    // A closing quote is missing, so each line of the unfinished row is read as a row of its own.
    return [...entries, ...this.#takeRow().flatMap((line) => this.#entryIn(line))];
  }

  #entriesOf(lines: readonly string[]): readonly T[] {
    const entries: T[] = [];
    for (const line of lines) {
      if (this.#row.length > 0) {
        const state = this.#stateAfter(line, true);
        if (state !== 'broken') this.#row.push(line);
        if (state === 'open') continue;
        const row = this.#takeRow();
        for (const each of state === 'ended' ? [row.join('\n')] : row) entries.push(...this.#entryIn(each));
        if (state === 'ended') continue;
      }
      const text = line.trim();
      if (text === '' || text.startsWith('#')) continue;
      const form = this.#form;
      if (form === undefined) {
        this.#form = formOfList(text);
        if (this.#form.kind === 'list') entries.push(this.#entryOf(cut(text)));
      } else if (form.kind === 'list') {
        entries.push(this.#entryOf(cut(text)));
      } else if (form.kind === 'column') {
        if (this.#stateAfter(line, false) === 'open') this.#row.push(line);
        else entries.push(...this.#entryIn(line));
      }
    }
    return entries;
  }

  /** Returns the state of the row after this line: `broken` if the row is too long. */
  #stateAfter(line: string, isOpen: boolean): RowState {
    const separator = this.#form?.kind === 'column' ? this.#form.column.separator : undefined;
    // Count the line end too, since a row may consist of empty lines.
    this.#rowLength = line.length + 1 + (isOpen ? this.#rowLength : 0);
    if (separator === undefined || this.#rowLength > MAX_ROW_LENGTH) return 'broken';
    return rowAfter(line, separator, isOpen);
  }

  #takeRow(): readonly string[] {
    const row = this.#row;
    this.#row = [];
    return row;
  }

  /** Returns the entry in a row, or in a line of a broken row. */
  #entryIn(text: string): readonly T[] {
    if (this.#form?.kind !== 'column') return [];
    const { column } = this.#form;
    const url = cellsOf(text, column.separator, column.index + 1)[column.index] ?? '';
    return url === '' || url.startsWith('#') ? [] : [this.#entryOf(cut(url), { text, column })];
  }
}

/** Reads only the URLs of a list. */
export class UrlLines extends ListReader<string> {
  constructor() {
    super((url) => url);
  }
}

/** Cuts a URL to one character more than allowed, so that it is still found to be malformed. */
function cut(url: string): string {
  return url.slice(0, MAX_URL_LENGTH + 1);
}
