import { MAX_TREE_DEPTH, MAX_TREE_ELEMENTS } from '../../../task/task/page-limits.ts';
import { DocumentNotes, type Document as PageDocument } from '../../document/document-notes.ts';
import { isSpace } from '../../html/characters.ts';
import { BODY, TEXTAREA, TITLE } from '../../html/tag-codes.ts';
import { type TagCode, tagCode } from '../../html/tags.ts';
import { END_OF_PAGE, END_TAG, HtmlTokenizer, START_TAG, TEXT } from '../../html/tokenizer.ts';
import { parse5 } from '../libraries.ts';
import { lowerCase, type Outline, OutlineBuilder, OutlineFull, readAttributes } from '../outline/outline.ts';
import { NotTidy, TidyBody, type TidyOutput } from './body.ts';

const HTML_TAG = tagCode('html');
const HEAD = tagCode('head');
const NOSCRIPT = tagCode('noscript');
const PRE = tagCode('pre');
const BYTE_ORDER_MARK = 0xfeff;
const NEWLINE = 0x0a;
const AMPERSAND = 0x26;

/** Elements allowed in the head. */
const OF_HEAD = new Set(['base', 'link', 'meta', 'script', 'style', 'title'].map(tagCode));
/** Elements with rules of their own in the head, or after it. */
const UNUSUAL_AT_HEAD = new Set(
  ['basefont', 'bgsound', 'frameset', 'head', 'html', 'noframes', 'template'].map(tagCode),
);
const OF_HEAD_NOSCRIPT = new Set(['link', 'meta', 'style'].map(tagCode));
/** Elements whose content is text in which entities are decoded. */
const WITH_ENTITIES = new Set([TEXTAREA, TITLE]);

/** Common names, so that no new string is made for each use. */
const NAMES = new Map(
  `a article aside b body br button div em footer form h1 h2 h3 h4 head header hr html i img input label li link main meta nav ol
  option p pre script section select span strong style sup table tbody td th thead title tr ul`
    .split(/\s+/)
    .map((name) => [tagCode(name), name]),
);

/** The part of the page being read. Anything after the body is read as if in the body. */
const BEFORE_HTML = 0;
const BEFORE_HEAD = 1;
const IN_HEAD = 2;
const IN_HEAD_NOSCRIPT = 3;
const AFTER_HEAD = 4;
const IN_BODY = 5;

/**
 * Reads a tidy page into the outline of the tree that a browser would build; returns undefined for any other page, such as one with
 * misnested tags, text between the rows of a table, or a template. Handles optional tags, such as those of `tbody` and `li`. Takes a seventh
 * of the time of parse5; the tests require the same tree from both.
 */
export function tidyTree(html: string, url?: string): TidyPage | undefined {
  // HTML replaces NUL, and treats a byte order mark specially.
  if (html.includes('\0') || html.charCodeAt(0) === BYTE_ORDER_MARK) return undefined;
  // The page may end inside a tag.
  if (html.lastIndexOf('<') > html.lastIndexOf('>')) return undefined;
  try {
    // Notes refer to places in the original page, so there are none once its line ends are changed.
    return html.includes('\r')
      ? new TidyTree(html.replaceAll(/\r\n?/g, '\n'), undefined).read()
      : new TidyTree(html, url).read();
  } catch (error: unknown) {
    if (error instanceof NotTidy || error instanceof OutlineFull) return undefined;
    throw error;
  }
}

/** A page's outline. Also the findings of {@link DocumentNotes}, if the page's URL was given and the page contains no CR. */
export interface TidyPage {
  readonly outline: Outline;
  readonly document: PageDocument | undefined;
}

class TidyTree implements TidyOutput {
  readonly #html: string;
  readonly #tokenizer: HtmlTokenizer;
  readonly #nodes: OutlineBuilder;
  readonly #body = new TidyBody(this);
  #at = BEFORE_HTML;
  #elements = 0;
  readonly #notes: DocumentNotes | undefined;
  /** Whether the next text is the page's title. */
  #isTitle = false;
  /** Place of a newline to leave out, right after a start tag; -1 once another tag has followed. */
  #newlineAt = -1;

  constructor(html: string, url: string | undefined) {
    this.#html = html;
    this.#tokenizer = new HtmlTokenizer(html, this.#body);
    this.#nodes = new OutlineBuilder(html, this.#tokenizer);
    if (url !== undefined) this.#notes = new DocumentNotes(html, url, this.#tokenizer);
  }

  read(): TidyPage {
    const tokenizer = this.#tokenizer;
    for (let token = tokenizer.next(); token !== END_OF_PAGE; token = tokenizer.next()) {
      if (token === TEXT) this.#text(tokenizer.textStart, tokenizer.textEnd);
      else if (token === START_TAG) this.#start(tokenizer.code);
      else if (token === END_TAG) this.#end(tokenizer.code);
    }
    this.#enterBody();
    return { outline: this.#nodes.outline(), document: this.#notes?.document() };
  }

  /** The name of the tag just read. */
  get #tagName(): string {
    return lowerCase(this.#tokenizer.name);
  }

  get isSelfClosing(): boolean {
    return this.#tokenizer.isSelfClosing;
  }

  /** Adds the element of the tag just read, and opens it. */
  open(): void {
    const { code } = this.#tokenizer;
    this.#note();
    this.#count();
    this.#nodes.open(NAMES.get(code) ?? this.#tagName);
    this.#newlineAt = code === PRE || code === TEXTAREA ? this.#tokenizer.position : -1;
  }

  openRaw(): void {
    this.open();
    this.#tokenizer.readRawText();
  }

  openForeign(): void {
    this.#note();
    this.#count();
    const { foreignContent } = parse5();
    const attrs = Object.entries(readAttributes(this.#html, this.#tokenizer)).map(([name, value]) => ({ name, value }));
    const tag = { tagName: this.#tagName, attrs } as Parameters<typeof foreignContent.adjustTokenSVGTagName>[0];
    foreignContent.adjustTokenSVGTagName(tag);
    foreignContent.adjustTokenSVGAttrs(tag);
    foreignContent.adjustTokenXMLAttrs(tag);
    this.#nodes.openForeign(tag.tagName, tag.attrs);
  }

  /** Adds an element that the page leaves out. */
  openImplied(name: string): void {
    this.#count();
    this.#nodes.openImplied(name);
  }

  /** Closes the innermost element. */
  close(): void {
    this.#nodes.close();
  }

  #start(code: TagCode): void {
    if (this.#at === IN_BODY) {
      this.#body.start(code);
      return;
    }
    if (this.#at === BEFORE_HTML) {
      this.#at = BEFORE_HEAD;
      if (code === HTML_TAG) {
        this.open();
        return;
      }
      this.openImplied('html');
    }
    if (this.#at === BEFORE_HEAD) {
      this.#at = IN_HEAD;
      if (code === HEAD) {
        this.open();
        return;
      }
      this.openImplied('head');
    }
    if (UNUSUAL_AT_HEAD.has(code)) throw new NotTidy();
    if (this.#at === AFTER_HEAD) this.#startBody(code);
    else this.#startInHead(code);
  }

  #startInHead(code: TagCode): void {
    const isNoscript = this.#at === IN_HEAD_NOSCRIPT;
    if ((isNoscript ? OF_HEAD_NOSCRIPT : OF_HEAD).has(code)) this.#body.startOfHead(code);
    else if (isNoscript) throw new NotTidy();
    else if (code === NOSCRIPT) {
      this.open();
      this.#at = IN_HEAD_NOSCRIPT;
    } else {
      this.close();
      this.#at = AFTER_HEAD;
      this.#startBody(code);
    }
  }

  #startBody(code: TagCode): void {
    // A browser would move it into the head, which has ended.
    if (OF_HEAD.has(code)) throw new NotTidy();
    this.#at = IN_BODY;
    if (code === BODY) {
      this.open();
      return;
    }
    this.openImplied('body');
    this.#body.start(code);
  }

  #end(code: TagCode): void {
    this.#isTitle = false;
    this.#newlineAt = -1;
    if (this.#at === IN_BODY) this.#body.end(code);
    else if (this.#body.endOfHead(code)) return;
    else if (this.#at === IN_HEAD && code === HEAD) {
      this.close();
      this.#at = AFTER_HEAD;
    } else if (this.#at === IN_HEAD_NOSCRIPT && code === NOSCRIPT) {
      this.close();
      this.#at = IN_HEAD;
    } else throw new NotTidy();
  }

  /** Makes sure that the body is open, at the end of the page or before text. */
  #enterBody(): void {
    if (this.#at === IN_BODY) return;
    if (this.#at === IN_HEAD_NOSCRIPT || this.#body.hasOpen) throw new NotTidy();
    if (this.#at === BEFORE_HTML) this.openImplied('html');
    if (this.#at <= BEFORE_HEAD) this.openImplied('head');
    if (this.#at <= IN_HEAD) this.close();
    this.openImplied('body');
    this.#at = IN_BODY;
  }

  #text(start: number, end: number): void {
    const { isRawText } = this.#tokenizer;
    if (this.#isTitle) this.#notes?.title(start, end);
    this.#isTitle = false;
    let from = start;
    if (this.#newlineAt >= 0) {
      const first = this.#html.charCodeAt(start);
      // The newline may be written as an entity, or follow a comment.
      if (first === AMPERSAND || (first === NEWLINE && start !== this.#newlineAt)) throw new NotTidy();
      if (first === NEWLINE) from++;
      this.#newlineAt = -1;
    }
    if (this.#at !== IN_BODY && !isRawText) from = this.#textOfHead(from, end);
    if (from === end) return;
    if (!isRawText && this.#body.holdsNoText && !this.#tokenizer.isBlank) throw new NotTidy();
    this.#nodes.text(from, end, !isRawText || WITH_ENTITIES.has(this.#tokenizer.code));
  }

  /** Keeps or drops white space before the body, and opens the body at the first other character. Returns where that is. */
  #textOfHead(start: number, end: number): number {
    let at = start;
    while (at < end && isSpace(this.#html.charCodeAt(at))) at++;
    if (at > start && this.#at >= IN_HEAD) this.#nodes.text(start, at, false);
    if (at === end) return at;
    // The entity may stand for white space.
    if (this.#html.charCodeAt(at) === AMPERSAND) throw new NotTidy();
    this.#enterBody();
    return at;
  }

  #note(): void {
    if (this.#notes === undefined) return;
    this.#isTitle = this.#notes.element(this.#body);
    this.#tokenizer.rewindAttributes();
  }

  /** Counts an element. @throws NotTidy if there are too many, or they are too deep */
  #count(): void {
    if (++this.#elements > MAX_TREE_ELEMENTS || this.#nodes.depth >= MAX_TREE_DEPTH) throw new NotTidy();
  }
}
