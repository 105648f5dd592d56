import { readFileSync } from 'node:fs';
import type { SourcePlace } from './place.ts';

/** Characters kept of a statement. */
const MOST_LENGTH = 120;
/** Number of files in memory at which all of them are forgotten. */
const MOST_FILES = 50;

/** Reads lines of source code, which the errors of crawlers quote. */
export class Statements {
  readonly #files = new Map<string, readonly string[]>();

  /** Returns the line at a place, trimmed and cut; undefined if it is blank or can't be read. */
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
