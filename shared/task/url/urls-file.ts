import { MAX_URL_LENGTH } from './url.ts';

/**
 * A list of URLs, one a line, read as its text arrives. Blank lines and lines that begin with `#` say nothing; a byte
 * order mark and white space around a URL are dropped. No line is checked to be a URL. A line that is too long for one is
 * cut, which leaves it too long: it is malformed, not lost.
 */
export class UrlLines {
  #rest = '';
  #isCut = false;

  /** Reads on, and returns the lines that are complete by now. */
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

  /** The list is over: its last line needs no line end. */
  end(): readonly string[] {
    const last = trimmed(this.#rest);
    this.#rest = '';
    return isUrl(last) ? [last] : [];
  }
}

/** `trim` takes the byte order mark for white space, too. */
function trimmed(line: string): string {
  return line.trim().slice(0, MAX_URL_LENGTH + 1);
}

function isUrl(line: string): boolean {
  return line !== '' && !line.startsWith('#');
}
