import { Tokenizer } from 'htmlparser2';

/** What is used here of what htmlparser2's tokenizer keeps to itself. */
interface Scanner {
  buffer: string;
  index: number;
  offset: number;
}

/**
 * htmlparser2's tokenizer, but for the way in which it looks for the end of a text or a value: as the engine does, not
 * character by character. That takes a quarter of the time that a page's links cost.
 *
 * What it replaces is htmlparser2's own affair: under another name it is never called, and nothing changes.
 */
export class QuickTokenizer extends Tokenizer {}

Object.defineProperty(QuickTokenizer.prototype, 'fastForwardTo', {
  /** Moves on to the next such character; without one, to the last character there is. */
  value(this: Scanner, charCode: number): boolean {
    const found = this.buffer.indexOf(String.fromCharCode(charCode), this.index + 1 - this.offset);
    this.index = this.offset + (found < 0 ? this.buffer.length - 1 : found);
    return found >= 0;
  },
});
