import { MAX_URL_LENGTH } from './url.ts';
import { firstCell, formOfList, type ListForm, type RowState, rowAfter } from './url-table.ts';

/** A longer row of a table is cut, and ends with its line. */
const MAX_ROW_LENGTH = 1_048_576;

/**
 * Reads a list of URLs, one per line, as its text arrives. Blank lines and lines that begin with `#` are skipped; a byte order
 * mark and white space around a URL are dropped. Lines are not checked to be URLs. A line too long for one is cut, but stays
 * too long, so it is reported as malformed rather than lost. Of a table whose header says that its first column holds URLs,
 * that column is read, whatever line ends the quoted cells of a row have; of any other table nothing.
 */
export class UrlLines {
  #rest = '';
  #isCut = false;
  #form: ListForm | undefined;
  /** The lines so far of a row that doesn't end with its line. */
  #row: string[] = [];
  #rowLength = 0;

  /** Is it a table that doesn't say where its URLs are? */
  get isTable(): boolean {
    return this.#form?.kind === 'table';
  }

  /** Reads a chunk and returns the lines that it completed. */
  write(chunk: string): readonly string[] {
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
    return this.#urlsOf(lines);
  }

  /** Ends the list and returns its last line, which needs no line end. */
  end(): readonly string[] {
    const last = this.#rest;
    this.#rest = '';
    const urls = this.#urlsOf([last]);
    // Its last quote is missing: it is many rows, or one.
    return [...urls, ...this.#takeRow().flatMap((line) => this.#cellOf(line))];
  }

  #urlsOf(lines: readonly string[]): readonly string[] {
    const urls: string[] = [];
    for (const line of lines) {
      if (this.#row.length > 0) {
        const state = this.#stateAfter(line, true);
        if (state !== 'broken') this.#row.push(line);
        if (state === 'open') continue;
        const row = this.#takeRow();
        urls.push(...(state === 'ended' ? row.slice(0, 1) : row).flatMap((each) => this.#cellOf(each)));
        if (state === 'ended') continue;
      }
      const text = line.trim();
      if (text === '' || text.startsWith('#')) continue;
      const form = this.#form;
      if (form === undefined) {
        this.#form = formOfList(text);
        if (this.#form.kind === 'list') urls.push(cut(text));
      } else if (form.kind === 'list') {
        urls.push(cut(text));
      } else if (form.kind === 'column') {
        if (this.#stateAfter(line, false) === 'open') this.#row.push(line);
        else urls.push(...this.#cellOf(line));
      }
    }
    return urls;
  }

  /** How the row stands after this line. One that is too long to be told is broken. */
  #stateAfter(line: string, isOpen: boolean): RowState {
    const separator = this.#form?.kind === 'column' ? this.#form.separator : undefined;
    this.#rowLength = line.length + (isOpen ? this.#rowLength : 0);
    if (separator === undefined || this.#rowLength > MAX_ROW_LENGTH) return 'broken';
    return rowAfter(line, separator, isOpen);
  }

  #takeRow(): readonly string[] {
    const row = this.#row;
    this.#row = [];
    return row;
  }

  /** The URL of a row, or of a line of it. */
  #cellOf(line: string): readonly string[] {
    const url = this.#form?.kind === 'column' ? firstCell(line, this.#form.separator) : '';
    return url === '' || url.startsWith('#') ? [] : [cut(url)];
  }
}

/** Leaves one character too many, which makes it malformed. */
function cut(url: string): string {
  return url.slice(0, MAX_URL_LENGTH + 1);
}
