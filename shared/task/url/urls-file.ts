import { MAX_URL_LENGTH } from './url.ts';

/**
 * Reads a list of URLs, one per line, as its text arrives. Blank lines and lines that begin with `#` are skipped; a byte order
 * mark and white space around a URL are dropped. Lines are not checked to be URLs. A line too long for one is cut, but stays
 * too long, so it is reported as malformed rather than lost.
 */
export class UrlLines {
  #rest = '';
  #isCut = false;

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
    return lines.map(trimmed).filter(isUrl);
  }

  /** Ends the list and returns its last line, which needs no line end. */
  end(): readonly string[] {
    const last = trimmed(this.#rest);
    this.#rest = '';
    return isUrl(last) ? [last] : [];
  }
}

/** `trim` also removes the byte order mark. */
function trimmed(line: string): string {
  return line.trim().slice(0, MAX_URL_LENGTH + 1);
}

function isUrl(line: string): boolean {
  return line !== '' && !line.startsWith('#');
}
