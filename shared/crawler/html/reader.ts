import { HtmlElements } from './html-elements.ts';
import { OpenElements } from './open-elements.ts';
import { P, SVG, TEMPLATE } from './tag-codes.ts';
import {
  ANNOTATION,
  BREAKS_OUT,
  COUNTED,
  classesOf,
  ENDS_FRAMESET_OK,
  FOREIGN,
  HIDDEN,
  HTML_INTEGRATION,
  MATH_ELEMENT,
  MATH_TEXT_INTEGRATION,
  RAW_TEXT,
  SCOPE,
  SHADOW_ROOT,
  SPECIAL,
  SVG_ELEMENT,
  type TagCode,
  tagCode,
} from './tags.ts';
import { END_TAG, HtmlTokenizer, START_TAG, TEXT, type Token } from './tokenizer.ts';

const ANNOTATION_XML = tagCode('annotation-xml');
const BR = tagCode('br');
const FONT = tagCode('font');
const FRAMESET = tagCode('frameset');
const INPUT = tagCode('input');
const MALIGNMARK = tagCode('malignmark');
const MATH = tagCode('math');
const MGLYPH = tagCode('mglyph');
const NOFRAMES = tagCode('noframes');
const PLAINTEXT = tagCode('plaintext');

const SVG_INTEGRATION: ReadonlySet<TagCode> = new Set(['foreignobject', 'desc', 'title'].map(tagCode));
const MATH_TEXT: ReadonlySet<TagCode> = new Set(['mi', 'mo', 'mn', 'ms', 'mtext'].map(tagCode));

/**
 * Reads a page tag by tag, and decides as a browser does what each tag means (HTML standard, section 13.2.6): an HTML element, one of SVG or
 * MathML with the same name, or nothing. Builds no tree. Scripting is off: the content of `noscript` is part of the page.
 *
 * Time is linear in the length of the page; memory is bounded.
 */
export class HtmlReader {
  readonly tokenizer: HtmlTokenizer;
  readonly open = new OpenElements();
  readonly #html = new HtmlElements(this.open);
  readonly #isXml: boolean;
  #framesetOk = true;
  #isFrameset = false;
  /** Elements with raw text are not on the stack: the next end tag is theirs and closes nothing else. */
  #isInRawText = false;
  /** Whether the start tag just read begins an HTML element. */
  isHtml = false;

  /** @param isXml whether the page is XHTML, where `<script/>` is a complete element */
  constructor(html: string, isXml: boolean) {
    this.tokenizer = new HtmlTokenizer(html, this.open);
    this.#isXml = isXml;
  }

  /** Whether the page's body is a frameset. Then it has no other elements. */
  get isFrameset(): boolean {
    return this.#isFrameset;
  }

  get isInTemplate(): boolean {
    return this.open.isInTemplate;
  }

  get isInert(): boolean {
    return this.open.isInert;
  }

  next(): Token {
    const { tokenizer } = this;
    const token = tokenizer.next();
    if (token === START_TAG) this.#start(tokenizer.code);
    else if (token === END_TAG && !this.#isInRawText) this.#end(tokenizer.code);
    else if (token === END_TAG) this.#isInRawText = false;
    else if (token === TEXT && this.#framesetOk) this.#framesetOk = tokenizer.isRawText || tokenizer.isBlank;
    return token;
  }

  #start(code: TagCode): void {
    const { open } = this;
    this.isHtml = false;
    if (this.#isFrameset) {
      if (code === NOFRAMES) this.#readRawText();
    } else if (!open.isForeign || this.#isHtmlAgain(code)) {
      this.#startHtml(code);
    } else if (this.#breaksOut(code)) {
      this.#leaveForeign();
      this.#startHtml(code);
    } else {
      this.#startForeign(code, open.classes & FOREIGN);
    }
  }

  #startHtml(code: TagCode): void {
    const { open, tokenizer } = this;
    const classes = classesOf(code);
    if (this.#framesetOk) this.#framesetOk = (classes & ENDS_FRAMESET_OK) === 0 || this.#isHiddenInput(code);
    switch (code) {
      case SVG:
        this.#startForeign(code, SVG_ELEMENT);
        return;
      case MATH:
        this.#startForeign(code, MATH_ELEMENT);
        return;
      case FRAMESET:
        this.#isFrameset = this.#framesetOk && !open.isInTemplate;
        return;
      case TEMPLATE:
        open.push(code, this.#isShadowRoot() ? (classes & ~HIDDEN) | SHADOW_ROOT : classes);
        break;
      default:
        this.#html.start(code, classes);
        if (code === PLAINTEXT) tokenizer.readPlainText();
        if ((classes & RAW_TEXT) !== 0 && !(this.#isXml && tokenizer.isSelfClosing)) this.#readRawText();
    }
    this.isHtml = true;
  }

  #readRawText(): void {
    this.#isInRawText = true;
    this.tokenizer.readRawText();
  }

  #startForeign(code: TagCode, namespace: number): void {
    if (this.tokenizer.isSelfClosing) return;
    let classes = namespace;
    if (namespace === SVG_ELEMENT) {
      if (SVG_INTEGRATION.has(code)) classes |= HTML_INTEGRATION | SPECIAL | SCOPE;
      else if (code === SVG) classes |= HIDDEN | COUNTED;
    } else if (MATH_TEXT.has(code)) {
      classes |= MATH_TEXT_INTEGRATION | SPECIAL | SCOPE;
    } else if (code === ANNOTATION_XML) {
      classes |= ANNOTATION | SPECIAL | SCOPE;
      if (this.#isHtmlAnnotation()) classes |= HTML_INTEGRATION;
    }
    this.open.push(code, classes);
  }

  /** Returns whether a start tag inside SVG or MathML begins an HTML element because of its place. */
  #isHtmlAgain(code: TagCode): boolean {
    const { classes } = this.open;
    if ((classes & HTML_INTEGRATION) !== 0) return true;
    if ((classes & MATH_TEXT_INTEGRATION) !== 0) return code !== MGLYPH && code !== MALIGNMARK;
    return (classes & ANNOTATION) !== 0 && code === SVG;
  }

  /** Returns whether a start tag inside SVG or MathML begins an HTML element because of its name. */
  #breaksOut(code: TagCode): boolean {
    return code === FONT ? this.#isStyledFont() : (classesOf(code) & BREAKS_OUT) !== 0;
  }

  #leaveForeign(): void {
    const { open } = this;
    while (open.isForeign && (open.classes & (HTML_INTEGRATION | MATH_TEXT_INTEGRATION)) === 0) open.pop();
  }

  #end(code: TagCode): void {
    const { open } = this;
    if (this.#isFrameset) return;
    if (code === BR) this.#framesetOk = false;
    if (open.isForeign) {
      if (code === BR || code === P) this.#leaveForeign();
      else if (this.#endForeign(code)) return;
    }
    this.#html.end(code);
  }

  /** Closes an element of SVG or MathML, if one of this name is open inside the innermost HTML element. */
  #endForeign(code: TagCode): boolean {
    const { open } = this;
    if (!open.mayHave(code)) return false;
    for (let index = open.innermost; (open.classesAt(index) & FOREIGN) !== 0; index--) {
      if (open.codeAt(index) !== code) continue;
      open.popFrom(index);
      return true;
    }
    return false;
  }

  #isHiddenInput(code: TagCode): boolean {
    return code === INPUT && /^hidden$/i.test(this.tokenizer.attribute('type') ?? '');
  }

  #isShadowRoot(): boolean {
    return /^(?:open|closed)$/i.test(this.tokenizer.attribute('shadowrootmode') ?? '');
  }

  #isHtmlAnnotation(): boolean {
    return /^(?:text\/html|application\/xhtml\+xml)$/i.test(this.tokenizer.attribute('encoding') ?? '');
  }

  #isStyledFont(): boolean {
    return this.tokenizer.attribute('color', 'face', 'size') !== undefined;
  }
}
