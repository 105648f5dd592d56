import { GREATER, isSpace, SLASH } from './characters.ts';
import { SCRIPT } from './tag-codes.ts';
import { addToCode, NO_CODE, type TagCode } from './tags.ts';

/** Marks that change the state of a script: outside a comment, in a comment, and in a script inside a comment. */
const SCRIPT_MARKS = {
  data: /<!--|<\/script[\t\n\f\r />]/gi,
  escaped: /-->|<\/?script[\t\n\f\r />]/gi,
  double: /-->|<\/script[\t\n\f\r />]/gi,
} as const;

/** Finds the end of raw text. */
export class RawText {
  readonly #html: string;
  /** The next `<!--`, as last searched. It is kept so that many scripts without one share one search. */
  #commentAt = -1;

  constructor(html: string) {
    this.#html = html;
  }

  /** Returns the position of the end tag; the end of the page if there is none. `from` must never decrease. */
  endOf(code: TagCode, nameLength: number, from: number): number {
    const end = this.#endTag(code, nameLength, from);
    if (code !== SCRIPT) return end;
    if (this.#commentAt < from) {
      const at = this.#html.indexOf('<!--', from);
      this.#commentAt = at < 0 ? this.#html.length : at;
    }
    return this.#commentAt < end ? this.#endOfScript(this.#commentAt) : end;
  }

  #endTag(code: TagCode, nameLength: number, from: number): number {
    const html = this.#html;
    for (let at = html.indexOf('</', from); at >= 0; at = html.indexOf('</', at + 2)) {
      const nameEnd = at + 2 + nameLength;
      const behind = html.charCodeAt(nameEnd);
      if (behind !== GREATER && behind !== SLASH && !isSpace(behind)) continue;
      let found = NO_CODE;
      for (let i = at + 2; i < nameEnd; i++) found = addToCode(found, html.charCodeAt(i));
      if (found === code) return at;
    }
    return html.length;
  }

  /**
   * Returns the end of a script that contains `<!--`. In such a comment, a `<script>` makes the next `</script>` part of the text (HTML
   * standard, the "script data escaped" states).
   */
  #endOfScript(comment: number): number {
    let state: keyof typeof SCRIPT_MARKS = 'data';
    for (let at = comment; ; ) {
      const marks = SCRIPT_MARKS[state];
      marks.lastIndex = at;
      const mark = marks.exec(this.#html);
      if (mark === null) return this.#html.length;
      const [text] = mark;
      at = marks.lastIndex;
      if (text === '-->') {
        state = 'data';
      } else if (text === '<!--') {
        state = 'escaped';
        // Its dashes may be part of `-->`.
        at -= 2;
      } else if (text.charCodeAt(1) !== SLASH) {
        state = 'double';
      } else if (state === 'double') {
        state = 'escaped';
      } else {
        return mark.index;
      }
    }
  }
}
