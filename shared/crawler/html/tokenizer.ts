import {
  DOUBLE_QUOTE,
  EQUALS,
  EXCLAMATION,
  GREATER,
  isSpace,
  LESS,
  QUESTION,
  SINGLE_QUOTE,
  SLASH,
} from './characters.ts';
import { RawText } from './raw-text.ts';
import { addToCode, NO_CODE, type TagCode } from './tags.ts';

/** Kinds of token that {@link HtmlTokenizer.next} finds. Comments, doctypes and CDATA sections are skipped. */
export const END_OF_PAGE = 0;
export const TEXT = 1;
export const START_TAG = 2;
export const END_TAG = 3;
export type Token = typeof END_OF_PAGE | typeof TEXT | typeof START_TAG | typeof END_TAG;

/** The facts about the open elements that the tokenizer needs. */
export interface TokenizerContext {
  /** Whether `<![CDATA[` begins a CDATA section. If not, it begins a comment that ends at the next `>`. */
  readonly allowsCdata: boolean;
}

/**
 * Tokenizes a page in memory by the HTML standard (section 13.2.5), in linear time. Creates no strings: its fields hold the positions of the
 * last token's parts.
 *
 * After some start tags the page is raw text. Which tags depends on the tree, so the caller decides, with {@link readRawText} and
 * {@link readPlainText}.
 */
export class HtmlTokenizer {
  readonly #html: string;
  readonly #context: TokenizerContext;
  /** Where the next token begins. */
  #at = 0;
  readonly #rawText: RawText;
  #isRawNext = false;
  #isPlainText = false;
  /** The next `-->` and `--!>`, as last searched. They are kept so that many comments without one share one search. */
  #endAt = -1;
  #otherEndAt = -1;

  /** The range of a text. Raw text is always one token. */
  textStart = 0;
  textEnd = 0;
  /** Whether that is raw text. */
  isRawText = false;
  /** The name of a tag. */
  code: TagCode = NO_CODE;
  #nameStart = 0;
  #nameEnd = 0;
  /** Whether the start tag ends in `/>`. */
  isSelfClosing = false;

  /** The ranges of name and value of the attribute that {@link nextAttribute} found. A missing value is an empty one. */
  attributeStart = 0;
  attributeEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  /** Where {@link nextAttribute} continues. */
  #attributesAt = 0;

  constructor(html: string, context: TokenizerContext) {
    this.#html = html;
    this.#context = context;
    this.#rawText = new RawText(html);
  }

  /** Where the next token begins. */
  get position(): number {
    return this.#at;
  }

  next(): Token {
    this.isRawText = this.#isRawNext;
    if (this.#isRawNext) {
      this.#isRawNext = false;
      if (this.#takeText(this.#rawText.endOf(this.code, this.#nameEnd - this.#nameStart, this.#at))) return TEXT;
    }
    const html = this.#html;
    while (this.#at < html.length) {
      const at = this.#at;
      const markup = this.#isPlainText ? html.length : this.#nextMarkup(at);
      if (markup > at) {
        this.#takeText(markup);
        return TEXT;
      }
      const next = html.charCodeAt(at + 1);
      if (isLetter(next)) {
        if (this.#readTag(at + 1)) return START_TAG;
      } else if (next === SLASH) {
        const afterSlash = html.charCodeAt(at + 2);
        if (!isLetter(afterSlash)) this.#at = afterSlash === GREATER ? at + 3 : this.#behind('>', at + 2);
        else if (this.#readTag(at + 2)) return END_TAG;
      } else {
        this.#at = next === EXCLAMATION ? this.#endOfDeclaration(at) : this.#behind('>', at + 2);
      }
    }
    return END_OF_PAGE;
  }

  /** Reads the page as raw text from here to the end tag of the name just read. */
  readRawText(): void {
    this.#isRawNext = true;
  }

  /** Reads the rest of the page as text. */
  readPlainText(): void {
    this.#isPlainText = true;
  }

  /** Whether the text just read is only white space and NULs, which HTML drops. */
  get isBlank(): boolean {
    for (let at = this.textStart; at < this.textEnd; at++) {
      const c = this.#html.charCodeAt(at);
      if (c !== 0 && !isSpace(c)) return false;
    }
    return true;
  }

  /** The name of the tag just read, as written. */
  get name(): string {
    return this.#html.slice(this.#nameStart, this.#nameEnd);
  }

  /** Returns the value, as written, of the first attribute with one of these names in the tag just read. */
  attribute(...names: readonly string[]): string | undefined {
    const html = this.#html;
    let value: string | undefined;
    while (value === undefined && this.nextAttribute()) {
      const length = this.attributeEnd - this.attributeStart;
      if (!names.some((name) => name.length === length)) continue;
      const name = html.slice(this.attributeStart, this.attributeEnd).toLowerCase();
      if (names.includes(name)) value = html.slice(this.valueStart, this.valueEnd);
    }
    this.rewindAttributes();
    return value;
  }

  /** Where the attributes of the tag just read begin. */
  get attributesStart(): number {
    return this.#nameEnd;
  }

  /** Makes {@link nextAttribute} start again: at the tag just read, or at an earlier one if the start of its attributes is given. */
  rewindAttributes(start = this.#nameEnd): void {
    this.#attributesAt = start;
  }

  /** Moves to the next attribute of the tag just read. Returns `false` if there is none. */
  nextAttribute(): boolean {
    const html = this.#html;
    let at = this.#attributesAt;
    let c = html.charCodeAt(at);
    while (isSpace(c) || c === SLASH) c = html.charCodeAt(++at);
    if (c === GREATER) return false;
    this.attributeStart = at;
    do c = html.charCodeAt(++at);
    while (!isSpace(c) && c !== SLASH && c !== GREATER && c !== EQUALS);
    this.attributeEnd = at;
    while (isSpace(c)) c = html.charCodeAt(++at);
    this.valueStart = at;
    this.valueEnd = at;
    if (c === EQUALS) {
      do c = html.charCodeAt(++at);
      while (isSpace(c));
      if (c === DOUBLE_QUOTE || c === SINGLE_QUOTE) {
        this.valueStart = at + 1;
        this.valueEnd = html.indexOf(c === DOUBLE_QUOTE ? '"' : "'", at + 1);
        at = this.valueEnd + 1;
      } else {
        this.valueStart = at;
        while (!isSpace(c) && c !== GREATER) c = html.charCodeAt(++at);
        this.valueEnd = at;
      }
    }
    this.#attributesAt = at;
    return true;
  }

  /** Returns the position of the next `<` that begins markup. */
  #nextMarkup(from: number): number {
    const html = this.#html;
    let at = html.indexOf('<', from);
    while (at >= 0) {
      const next = html.charCodeAt(at + 1);
      if (beginsMarkup(next)) return at;
      at = next === LESS ? at + 1 : html.indexOf('<', at + 1);
    }
    return html.length;
  }

  #takeText(end: number): boolean {
    this.textStart = this.#at;
    this.textEnd = end;
    this.#at = end;
    return this.textStart < end;
  }

  /** Reads the tag whose name begins at `at`. Returns `false` if the page ends inside it: then it isn't a tag. */
  #readTag(at: number): boolean {
    const html = this.#html;
    const { length } = html;
    let end = at;
    let code = NO_CODE;
    let c = html.charCodeAt(end);
    do {
      code = addToCode(code, c);
      c = ++end < length ? html.charCodeAt(end) : GREATER;
    } while (c !== GREATER && c !== SLASH && !isSpace(c));
    this.code = code;
    this.#nameStart = at;
    this.#nameEnd = end;
    this.#attributesAt = end;
    this.isSelfClosing = false;
    end = this.#endOfTag(end);
    this.#at = end;
    return end <= length;
  }

  /** Returns the position after the `>` of a tag, searched from the end of its name; beyond the end of the page if there is none. */
  #endOfTag(from: number): number {
    const html = this.#html;
    const { length } = html;
    let at = from;
    while (at < length) {
      let c = html.charCodeAt(at);
      if (c === GREATER) return at + 1;
      if (isSpace(c)) {
        at++;
        continue;
      }
      if (c === SLASH) {
        if (html.charCodeAt(++at) !== GREATER) continue;
        this.isSelfClosing = true;
        return at + 1;
      }
      // An attribute, whose name may begin with an equals sign.
      do c = ++at < length ? html.charCodeAt(at) : GREATER;
      while (c !== EQUALS && c !== GREATER && c !== SLASH && !isSpace(c));
      while (isSpace(c)) c = html.charCodeAt(++at);
      if (c !== EQUALS) continue;
      do c = html.charCodeAt(++at);
      while (isSpace(c));
      if (c === DOUBLE_QUOTE || c === SINGLE_QUOTE) {
        const quoteAt = html.indexOf(c === DOUBLE_QUOTE ? '"' : "'", at + 1);
        if (quoteAt < 0) break;
        at = quoteAt + 1;
      } else {
        while (at < length && c !== GREATER && !isSpace(c)) c = html.charCodeAt(++at);
      }
    }
    return length + 1;
  }

  /** Returns the position after the comment, doctype or CDATA section that begins at `at`. */
  #endOfDeclaration(at: number): number {
    const html = this.#html;
    if (html.startsWith('--', at + 2)) return this.#endOfComment(at);
    if (this.#context.allowsCdata && html.startsWith('[CDATA[', at + 2)) return this.#behind(']]>', at + 9);
    return this.#behind('>', at + 2);
  }

  /** Returns the end of a comment: at `-->`, which may overlap its own `<!--`, or at `--!>`, which may not. */
  #endOfComment(start: number): number {
    if (this.#endAt < start + 2) this.#endAt = this.#find('-->', start + 2);
    if (this.#otherEndAt < start + 4) this.#otherEndAt = this.#find('--!>', start + 4);
    const end = this.#otherEndAt < this.#endAt ? this.#otherEndAt + 4 : this.#endAt + 3;
    return Math.min(end, this.#html.length);
  }

  #behind(end: string, from: number): number {
    return Math.min(this.#find(end, from) + end.length, this.#html.length);
  }

  /** Returns the position of a text; the end of the page if it doesn't occur. */
  #find(text: string, from: number): number {
    const at = this.#html.indexOf(text, from);
    return at < 0 ? this.#html.length : at;
  }
}

function isLetter(c: number): boolean {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a);
}

/** Returns whether a `<` in front of this character begins a tag, a comment or the like. */
function beginsMarkup(c: number): boolean {
  return isLetter(c) || c === SLASH || c === EXCLAMATION || c === QUESTION;
}
