import { decodeHTML } from 'entities';
import { foldedSpace } from '../html/folded-space.ts';
import { HtmlReader } from '../html/reader.ts';
import { TEXTAREA } from '../html/tag-codes.ts';
import { classesOf, LINE, type TagCode, tagCode } from '../html/tags.ts';
import { END_OF_PAGE, TEXT } from '../html/tokenizer.ts';

const XMP = tagCode('xmp');

/** Characters of the longest entity, except for numbers with many leading zeros. */
const LONGEST_ENTITY = 1_000;

/** Returns the text of an HTML page as a human reader sees it, one line per block, white space folded. */
export function readText(html: string, isXml = false): string {
  const reader = new TextReader(html, isXml);
  reader.read(html.length);
  return reader.text();
}

/** {@link readText} in steps, for large pages. */
export class TextReader {
  readonly #html: string;
  readonly #reader: HtmlReader;
  readonly #lines: string[] = [];
  #line = '';
  /** Whether the line is empty or ends in a space, so that a leading space of the next text is dropped. */
  #isSpaced = true;
  /** The part of the current text that is still to be added. */
  #textAt = 0;
  #textEnd = 0;
  /** Whether it can contain entities. */
  #isCoded = false;

  /** @param isXml whether the page is XHTML */
  constructor(html: string, isXml: boolean) {
    this.#html = html;
    this.#reader = new HtmlReader(html, isXml);
  }

  /** Reads about this many more characters. Returns `true` at the end of the page. */
  read(characters: number): boolean {
    const { tokenizer, open } = this.#reader;
    let left = characters;
    while (left > 0) {
      if (this.#textAt < this.#textEnd) {
        left -= this.#addText(left);
        continue;
      }
      const from = tokenizer.position;
      const token = this.#reader.next();
      if (token === END_OF_PAGE) return true;
      if (token !== TEXT) {
        if ((classesOf(tokenizer.code) & LINE) !== 0 && !open.isHidden) this.#endLine();
        left -= tokenizer.position - from;
      } else if (!open.isHidden) {
        this.#beginText(tokenizer.isRawText ? tokenizer.code : undefined);
      }
    }
    return false;
  }

  text(): string {
    this.#endLine();
    return this.#lines.join('\n');
  }

  /** @param raw the element whose raw text this is, if it is raw text */
  #beginText(raw: TagCode | undefined): void {
    if (raw !== undefined && raw !== TEXTAREA && raw !== XMP) return;
    this.#textAt = this.#reader.tokenizer.textStart;
    this.#textEnd = this.#reader.tokenizer.textEnd;
    this.#isCoded = raw !== XMP;
  }

  /** Adds about this many characters of the text, and returns how many it added. */
  #addText(most: number): number {
    const length = Math.max(most, LONGEST_ENTITY);
    let piece = this.#html.slice(this.#textAt, Math.min(this.#textEnd, this.#textAt + length));
    const lastEntity = this.#isCoded ? piece.lastIndexOf('&') : -1;
    // Don't cut an entity in two.
    if (lastEntity > 0 && this.#textAt + piece.length < this.#textEnd) piece = piece.slice(0, lastEntity);
    this.#textAt += piece.length;
    this.#addToLine(foldedSpace(lastEntity < 0 ? piece : decodeHTML(piece)));
    return piece.length;
  }

  #addToLine(text: string): void {
    const added = text.startsWith(' ') && this.#isSpaced ? text.slice(1) : text;
    if (added === '') return;
    this.#line += added;
    this.#isSpaced = added.endsWith(' ');
  }

  #endLine(): void {
    const line = this.#isSpaced ? this.#line.slice(0, -1) : this.#line;
    if (line !== '') this.#lines.push(line);
    this.#line = '';
    this.#isSpaced = true;
  }
}
