import { readFileSync } from 'node:fs';
import type { SourcePlace } from './place.ts';

/** Characters kept of a statement. */
const MOST_LENGTH = 120;
/** Files remembered at most; at this number all are forgotten. */
const MOST_FILES = 50;

/** Lines of source for people: errors of crawlers name them. */
export class Statements {
  readonly #files = new Map<string, readonly string[]>();

  /** The line at a place, trimmed and cut; nothing if it can't be read. */
  at({ file, line }: SourcePlace): string | undefined {
    const text = (this.#lines(file)[line - 1] ?? '').trim();
    if (text === '') return undefined;
    return text.length > MOST_LENGTH ? `${text.slice(0, MOST_LENGTH - 1)}…` : text;
  }

  #lines(file: string): readonly string[] {
    let lines = this.#files.get(file);
    if (lines === undefined) {
      if (this.#files.size >= MOST_FILES) this.#files.clear();
      lines = linesOf(file);
      this.#files.set(file, lines);
    }
    return lines;
  }
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
