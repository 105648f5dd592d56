/** What the open quotes, items and footnotes put in front of each line inside them: a page of short lines can become a hundred times as long. */
export class Indentation {
  readonly #open: number[] = [];
  #length = 0;

  /** Characters in front of a line. */
  get length(): number {
    return this.#length;
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
