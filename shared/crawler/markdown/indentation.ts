import { MAX_MARKDOWN_INDENTATION } from '../../task/task/page-limits.ts';

/** What the open quotes, items and footnotes put in front of each line inside them: a page of short lines can become a hundred times as long. */
export class Indentation {
  readonly #open: number[] = [];
  /** Characters in front of a line. */
  #length = 0;
  /** The work that the lines so far make: each open quote or item goes through the lines inside it. */
  #work = 0;

  /** Counts one more line. */
  addLine(): void {
    this.#work += this.#length * this.#open.length;
  }

  get isFull(): boolean {
    return this.#work >= MAX_MARKDOWN_INDENTATION;
  }

  /** Counts the lines of a block of code. Returns those that there is room for. */
  fitting(code: string): string {
    let end = this.#length === 0 ? -1 : code.indexOf('\n');
    for (; end >= 0 && !this.isFull; end = code.indexOf('\n', end + 1)) this.addLine();
    return end < 0 ? code : code.slice(0, end);
  }

  /** Takes a tag that was written. */
  read(tag: string): void {
    const [, end, name, number = '1'] = TAG.exec(tag) ?? [];
    if (name === undefined) return;
    if (end === '') {
      const added = name === 'blockquote' ? QUOTE : number.length + AFTER_NUMBER;
      this.#open.push(added);
      this.#length += added;
    } else this.#length -= this.#open.pop() ?? 0;
  }
}

const TAG = /^<(\/?)(blockquote|li|section)\b(?:.* value="(\d+)")?/s;
/** The characters of `> `. */
const QUOTE = 2;
/** Those after the number of an item, as in `1.  `. */
const AFTER_NUMBER = 3;
