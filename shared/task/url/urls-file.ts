import { MAX_URL_LENGTH } from './url.ts';
import { firstCell, formOfList, type ListForm } from './url-table.ts';

/**
 * Reads a list of URLs, one per line, as its text arrives. Blank lines and lines that begin with `#` are skipped; a byte order
 * mark and white space around a URL are dropped. Lines are not checked to be URLs. A line too long for one is cut, but stays
 * too long, so it is reported as malformed rather than lost. Of a table whose header says that its first column holds URLs,
 * that column is read; of any other table nothing.
 */
export class UrlLines {
  #rest = '';
  #isCut = false;
  #form: ListForm | undefined;

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
    if (this.#rest.length > MAX_URL_LENGTH) {
      this.#rest = this.#rest.trimStart().slice(0, MAX_URL_LENGTH + 1);
      this.#isCut = this.#rest.length > MAX_URL_LENGTH;
    }
    return this.#urlsOf(lines);
  }

  /** Ends the list and returns its last line, which needs no line end. */
  end(): readonly string[] {
    const last = this.#rest;
    this.#rest = '';
    return this.#urlsOf([last]);
  }

  #urlsOf(lines: readonly string[]): readonly string[] {
    const urls: string[] = [];
    for (const line of lines) {
      const text = line.trim();
      if (text === '' || text.startsWith('#')) continue;
      const form = this.#form;
      if (form === undefined) {
        this.#form = formOfList(text);
        if (this.#form.kind === 'list') urls.push(cut(text));
      } else if (form.kind !== 'table') {
        const url = form.kind === 'column' ? firstCell(line, form.separator) : text;
        if (url !== '') urls.push(cut(url));
      }
    }
    return urls;
  }
}

/** Leaves one character too many, which makes it malformed. */
function cut(url: string): string {
  return url.slice(0, MAX_URL_LENGTH + 1);
}
