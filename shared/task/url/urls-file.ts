import { MAX_URL_LENGTH } from './url.ts';
import { cellsOf, formOfList, type ListForm, type RowState, rowAfter, type UrlColumn } from './url-table.ts';

/** A longer row of a table is cut, and ends with its line. */
const MAX_ROW_LENGTH = 1_048_576;

/** A row of a table that has a URL. */
export interface UrlRow {
  /** As it is written, with line ends if a quoted cell has them. */
  readonly text: string;
  readonly column: UrlColumn;
}

/**
 * Reads a list of URLs, one per line, as its text arrives. Blank lines and lines that begin with `#` are skipped; a byte order
 * mark and white space around a URL are dropped. Lines are not checked to be URLs. A line too long for one is cut, but stays
 * too long, so it is reported as malformed rather than lost. Of a table whose header says which column holds URLs,
 * that column is read, whatever line ends the quoted cells of a row have; of any other table nothing.
 */
export class ListReader<T> {
  readonly #entryOf: (url: string, row?: UrlRow) => T;
  #rest = '';
  #isCut = false;
  #form: ListForm | undefined;
  /** The lines so far of a row that doesn't end with its line. */
  #row: string[] = [];
  #rowLength = 0;

  /** @param entryOf what is made of each URL, and of its row if the list is a table */
  constructor(entryOf: (url: string, row?: UrlRow) => T) {
    this.#entryOf = entryOf;
  }

  /** Is it a table that doesn't say where its URLs are? */
  get isTable(): boolean {
    return this.#form?.kind === 'table';
  }

  /** Reads a chunk and returns what the lines that it completed have. */
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

  /** Ends the list and returns what its last line has, which needs no line end. */
  end(): readonly T[] {
    const last = this.#rest;
    this.#rest = '';
    const entries = this.#entriesOf([last]);
    // Its last quote is missing: it is many rows, or one.
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

  /** How the row stands after this line. One that is too long to be told is broken. */
  #stateAfter(line: string, isOpen: boolean): RowState {
    const separator = this.#form?.kind === 'column' ? this.#form.column.separator : undefined;
    // Its end counts, too: a row may be of empty lines.
    this.#rowLength = line.length + 1 + (isOpen ? this.#rowLength : 0);
    if (separator === undefined || this.#rowLength > MAX_ROW_LENGTH) return 'broken';
    return rowAfter(line, separator, isOpen);
  }

  #takeRow(): readonly string[] {
    const row = this.#row;
    this.#row = [];
    return row;
  }

  /** Of a row, or of a line of one that is broken. */
  #entryIn(text: string): readonly T[] {
    if (this.#form?.kind !== 'column') return [];
    const { column } = this.#form;
    const url = cellsOf(text, column.separator, column.index + 1)[column.index] ?? '';
    return url === '' || url.startsWith('#') ? [] : [this.#entryOf(cut(url), { text, column })];
  }
}

/** Reads the URLs of a list alone. */
export class UrlLines extends ListReader<string> {
  constructor() {
    super((url) => url);
  }
}

/** Leaves one character too many, which makes it malformed. */
function cut(url: string): string {
  return url.slice(0, MAX_URL_LENGTH + 1);
}
