import type { NotedPlace } from '../../document/document-notes.ts';
import { COL, COLGROUP } from '../../html/table-parts.ts';
import {
  A,
  ADDRESS,
  BODY,
  BUTTON,
  DD,
  DIV,
  DT,
  FORM,
  LI,
  OPTGROUP,
  OPTION,
  P,
  SCRIPT,
  SELECT,
  SVG,
  TABLE,
} from '../../html/tag-codes.ts';
import {
  BREAKS_OUT,
  CLOSED_IN_SCOPE,
  CLOSES_P,
  classesOf,
  HEADING,
  IMPLIED_END,
  RAW_TEXT,
  SPECIAL,
  TABLE_PART,
  type TagCode,
  tagCode,
  VOID,
} from '../../html/tags.ts';
import type { TokenizerContext } from '../../html/tokenizer.ts';
import { HOLDS_PARTS, IMPLIED_PARTS, isAround, missingBetween } from './tables.ts';

/** A page's elements can't be placed by its tags alone: it needs a full parser. */
export class NotTidy extends Error {}

/** Receives the elements of a page. */
export interface TidyOutput {
  readonly isSelfClosing: boolean;
  /** Adds the element of the tag just read, and opens it. */
  open(): void;
  /** Like {@link open}, for an element whose content is text up to its end tag. */
  openRaw(): void;
  /** Like {@link open}, for an SVG element. */
  openForeign(): void;
  openImplied(name: string): void;
  /** Closes the innermost element. */
  close(): void;
}

const codes = (names: string): ReadonlySet<TagCode> => new Set(names.split(/\s+/).map(tagCode));

const HTML = tagCode('html');
const STYLE = tagCode('style');

/** Elements with parsing rules that few pages need. */
const UNUSUAL = codes(
  `applet basefont bgsound body frame frameset head html image isindex keygen listing marquee math nobr noembed noframes object
  plaintext rb rp rt rtc ruby search template xmp`,
);
/** SVG elements that contain HTML. */
const HOLDS_HTML = codes('desc foreignobject title');
const UNUSUAL_IN_SVG = codes('font template');
/** End tags that have an effect even without an open element to close. */
const UNUSUAL_AT_END = codes('br head p template');
const IN_TABLE = new Set([SCRIPT, STYLE]);

/**
 * Decides which elements the tags of a body open and close (HTML standard, section 13.2.6.4.7 and on). Throws {@link NotTidy} where an
 * element would have to be moved or opened again.
 */
export class TidyBody implements TokenizerContext, NotedPlace {
  readonly isInTemplate = false;
  readonly isInert = false;
  readonly #output: TidyOutput;
  /** The open elements of the body. */
  readonly #open: TagCode[] = [];
  /** Number of open SVG elements, which are the innermost. */
  #foreign = 0;
  /** Numbers of these elements that are open. */
  #paragraphs = 0;
  #links = 0;
  #buttons = 0;
  #forms = 0;
  #selects = 0;
  #tables = 0;

  constructor(output: TidyOutput) {
    this.#output = output;
  }

  get hasOpen(): boolean {
    return this.#open.length > 0;
  }

  get isHtml(): boolean {
    return this.#foreign === 0;
  }

  /** In SVG, the content of a CDATA section is text. */
  get allowsCdata(): boolean {
    if (this.#foreign > 0) throw new NotTidy();
    return false;
  }

  /** Whether white space is the only text allowed here. */
  get holdsNoText(): boolean {
    return this.#tables > 0 && this.#foreign === 0 && HOLDS_PARTS.has(this.#innermost);
  }

  /** Handles the start tag of an element that is allowed in the head. */
  startOfHead(code: TagCode): void {
    if ((classesOf(code) & RAW_TEXT) !== 0) this.#pushRaw(code);
    else this.#addVoid();
  }

  /** Handles an end tag in the head. Returns `false` unless it closes an element that {@link startOfHead} opened. */
  endOfHead(code: TagCode): boolean {
    if (this.#open.length === 0 || this.#innermost !== code) return false;
    this.#pop();
    return true;
  }

  start(code: TagCode): void {
    if (this.#foreign > 0) {
      this.#startForeign(code);
      return;
    }
    const classes = classesOf(code);
    if (UNUSUAL.has(code)) throw new NotTidy();
    if (this.#selects > 0) this.#startInSelect(code);
    else if ((classes & TABLE_PART) !== 0) this.#startPart(code);
    else if (this.holdsNoText) {
      if (!IN_TABLE.has(code) || this.#innermost === COLGROUP) throw new NotTidy();
      this.#pushRaw(code);
    } else this.#startUsual(code, classes);
  }

  end(code: TagCode): void {
    if (this.#open.length === 0) {
      this.#ignore(code);
      return;
    }
    if (this.#innermost === code) {
      this.#pop();
      return;
    }
    if (this.#foreign > 0) throw new NotTidy();
    if (this.#selects > 0) this.#endInSelect(code);
    else if (this.#tables > 0 && ((classesOf(code) & TABLE_PART) !== 0 || code === TABLE)) this.#endPart(code);
    else this.#endUsual(code);
  }

  get #innermost(): TagCode {
    return this.#open.at(-1) ?? BODY;
  }

  #startUsual(code: TagCode, classes: number): void {
    if (code === LI) this.#closeItem(LI, LI);
    else if (code === DD || code === DT) this.#closeItem(DD, DT);
    if ((classes & CLOSES_P) !== 0 && this.#paragraphs > 0) {
      // Formatting inside the paragraph would have to continue after it, and old pages allow a table inside a paragraph.
      if (this.#innermost !== P || code === TABLE) throw new NotTidy();
      this.#pop();
    }
    if ((classes & HEADING) !== 0 && (classesOf(this.#innermost) & HEADING) !== 0) throw new NotTidy();
    if ((classes & RAW_TEXT) !== 0) this.#pushRaw(code);
    else if ((classes & VOID) !== 0) this.#addVoid();
    else if (code === SVG) this.#startForeign(code);
    else this.#pushUsual(code);
  }

  #pushUsual(code: TagCode): void {
    switch (code) {
      case A:
        if (this.#links > 0) throw new NotTidy();
        break;
      case P:
        if (this.#paragraphs > 0) throw new NotTidy();
        break;
      case BUTTON:
        if (this.#buttons > 0) throw new NotTidy();
        break;
      case FORM:
        if (this.#forms > 0) throw new NotTidy();
        break;
      case OPTION:
        if (this.#innermost === OPTION) this.#pop();
        break;
      case OPTGROUP:
        throw new NotTidy();
    }
    this.#push(code);
    this.#output.open();
  }

  #startInSelect(code: TagCode): void {
    if (code === SCRIPT) {
      this.#pushRaw(code);
      return;
    }
    if (code !== OPTION && code !== OPTGROUP) throw new NotTidy();
    if (this.#innermost === OPTION) this.#pop();
    if (code === OPTGROUP && this.#innermost === OPTGROUP) this.#pop();
    this.#push(code);
    this.#output.open();
  }

  #endInSelect(code: TagCode): void {
    if (code === SELECT) {
      while (this.#innermost !== SELECT) this.#pop();
      this.#pop();
    } else if (code === OPTGROUP && this.#innermost === OPTION && this.#open.at(-2) === OPTGROUP) {
      this.#pop();
      this.#pop();
    } else throw new NotTidy();
  }

  /** Opens an SVG element, and closes it again if it is self-closing. */
  #startForeign(code: TagCode): void {
    const isUnusual = UNUSUAL_IN_SVG.has(code) || (classesOf(code) & BREAKS_OUT) !== 0;
    if (this.#foreign > 0 && (isUnusual || HOLDS_HTML.has(this.#innermost))) throw new NotTidy();
    this.#foreign++;
    this.#open.push(code);
    this.#output.openForeign();
    if (this.#output.isSelfClosing) this.#pop();
  }

  #startPart(code: TagCode): void {
    if (this.#tables === 0) throw new NotTidy();
    for (;;) {
      const around = this.#innermost;
      const missing = missingBetween(around, code);
      if (missing !== undefined) {
        for (const part of missing) this.#pushImplied(part);
        if (code === COL) this.#addVoid();
        else {
          this.#push(code);
          this.#output.open();
        }
        return;
      }
      const mayClose = around !== TABLE && (classesOf(around) & (TABLE_PART | IMPLIED_END)) !== 0;
      if (!mayClose) throw new NotTidy();
      this.#pop();
    }
  }

  /** Closes a part of the table, and the elements open in it if their end tags are optional. */
  #endPart(code: TagCode): void {
    for (let around = this.#innermost; around !== code; around = this.#innermost) {
      const isPart = (classesOf(around) & TABLE_PART) !== 0 && isAround(code, around);
      if (!isPart && (classesOf(around) & IMPLIED_END) === 0) throw new NotTidy();
      this.#pop();
    }
    this.#pop();
  }

  #endUsual(code: TagCode): void {
    if (code === BODY || code === HTML) return;
    const classes = classesOf(code);
    const index = this.#open.lastIndexOf(code);
    if (index < 0) {
      this.#ignore(code);
      return;
    }
    const closesOthers = (classes & (CLOSED_IN_SCOPE | HEADING)) !== 0 || code === LI || code === DD || code === DT;
    if (!closesOthers) throw new NotTidy();
    this.#popImplied(index);
    this.#pop();
  }

  /** Ignores an end tag that matches no open element, if it can be ignored. */
  #ignore(code: TagCode): void {
    if (UNUSUAL_AT_END.has(code) || this.holdsNoText) throw new NotTidy();
    // It would close an open heading of any level.
    if ((classesOf(code) & HEADING) !== 0 && this.#open.some((open) => (classesOf(open) & HEADING) !== 0))
      throw new NotTidy();
  }

  /** Closes the list item before a new one. */
  #closeItem(code: TagCode, other: TagCode): void {
    for (let index = this.#open.length - 1; index >= 0; index--) {
      const at = this.#open[index] ?? BODY;
      if (at === code || at === other) {
        this.#popImplied(index);
        this.#pop();
        return;
      }
      const mayStandBetween = at === ADDRESS || at === DIV || at === P;
      if ((classesOf(at) & SPECIAL) !== 0 && !mayStandBetween) return;
    }
  }

  /** Closes the elements inside the one at this index. Their end tags must be optional. */
  #popImplied(index: number): void {
    while (this.#open.length - 1 > index) {
      if ((classesOf(this.#innermost) & IMPLIED_END) === 0) throw new NotTidy();
      this.#pop();
    }
  }

  #pushRaw(code: TagCode): void {
    this.#push(code);
    this.#output.openRaw();
  }

  #pushImplied(code: TagCode): void {
    this.#push(code);
    this.#output.openImplied(IMPLIED_PARTS.get(code) ?? '');
  }

  #addVoid(): void {
    this.#output.open();
    this.#output.close();
  }

  #push(code: TagCode): void {
    this.#open.push(code);
    this.#count(code, 1);
  }

  #pop(): void {
    const code = this.#open.pop() ?? BODY;
    if (this.#foreign > 0) this.#foreign--;
    else this.#count(code, -1);
    this.#output.close();
  }

  #count(code: TagCode, by: 1 | -1): void {
    if (code === P) this.#paragraphs += by;
    else if (code === A) this.#links += by;
    else if (code === BUTTON) this.#buttons += by;
    else if (code === FORM) this.#forms += by;
    else if (code === SELECT) this.#selects += by;
    else if (code === TABLE) this.#tables += by;
  }
}
