import { decodeHTML, decodeHTMLAttribute } from 'entities';
import { Parser, type TokenizerCallbacks } from 'htmlparser2';
import { forbidsFollowing, isRobotsMeta } from '../task/robots-directives.ts';
import { type LinkBase, linkBase, resolveLink } from '../task/url.ts';
import { QuickTokenizer } from './quick-tokenizer.ts';

/** What one pass over a page finds. */
export interface Document {
  /** The text of the first `<title>`, white space folded; null without one. */
  readonly title: string | null;
  /** The links of `<a>` and `<area>`, absolute, without fragments, each once, in the order they stand. */
  readonly links: readonly string[];
  /** Those of them that the page asks not to follow, by `rel=nofollow` wherever they stand. */
  readonly nofollow: ReadonlySet<string>;
  /** A `<meta name=robots>` asks that none is followed. */
  readonly isNofollow: boolean;
  /** What the first `<link rel=canonical>` names, absolute; null without one. */
  readonly canonical: string | null;
}

/** A document without anything. */
export const NO_DOCUMENT: Document = {
  title: null,
  links: [],
  nofollow: new Set(),
  isNofollow: false,
  canonical: null,
};

/** A page with more links than this keeps the first ones. */
export const MAX_LINKS = 10_000;
const MAX_TITLE_LENGTH = 2_000;

/** Reads title, links and what is said of them in an HTML page, in one streaming pass; no tree is built. `url` is where the page was found. */
export function readDocument(html: string, url: string): Document {
  const reader = new DocumentReader(html, url);
  const tokenizer = new QuickTokenizer({ decodeEntities: false }, reader);
  tokenizer.write(html);
  tokenizer.end();
  return reader.document();
}

/**
 * Takes the tokens of a page. It stands on htmlparser2's tokenizer instead of its parser, and decodes only the entities of
 * what it keeps: a page is mostly text that nobody asks for, and this costs half as much.
 */
class DocumentReader implements TokenizerCallbacks {
  readonly #html: string;
  readonly #url: string;
  readonly #links = new Set<string>();
  #base: LinkBase;
  #hasBase = false;
  #canonical: string | undefined;
  #isNofollow = false;
  readonly #nofollow = new Set<string>();
  #tag = '';
  /** Is it an element whose attributes matter? */
  #isRead = false;
  #attribute: 'href' | 'rel' | 'name' | 'content' | undefined;
  #value = '';
  #href: string | undefined;
  #rel = '';
  #name = '';
  #content = '';
  #title = '';
  #titleState: 'ahead' | 'inside' | 'over' = 'ahead';
  #svgDepth = 0;

  constructor(html: string, url: string) {
    this.#html = html;
    this.#url = url;
    this.#base = linkBase(url);
  }

  document(): Document {
    const title = decodeHTML(this.#title).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TITLE_LENGTH);
    return {
      title: title === '' ? null : title,
      links: [...this.#links],
      nofollow: this.#nofollow,
      isNofollow: this.#isNofollow,
      canonical: this.#canonical ?? null,
    };
  }

  onopentagname(start: number, end: number): void {
    // The names that matter are short.
    this.#tag = end - start <= 5 ? this.#html.slice(start, end).toLowerCase() : '';
    if (this.#tag === 'svg') this.#svgDepth++;
    this.#isRead = isRead(this.#tag);
    if (!this.#isRead) return;
    this.#href = undefined;
    this.#rel = '';
    this.#name = '';
    this.#content = '';
  }

  onopentagend(): void {
    this.#readElement();
    // An SVG picture has titles of its own.
    if (this.#tag === 'title' && this.#titleState === 'ahead' && this.#svgDepth === 0) this.#titleState = 'inside';
  }

  onselfclosingtag(): void {
    this.#readElement();
    if (this.#tag === 'svg') this.#svgDepth--;
  }

  onclosetag(start: number, end: number): void {
    if (this.#titleState === 'inside') this.#titleState = 'over';
    else if (this.#svgDepth > 0 && this.#html.slice(start, end).toLowerCase() === 'svg') this.#svgDepth--;
  }

  ontext(start: number, end: number): void {
    if (this.#titleState === 'inside' && this.#title.length < MAX_TITLE_LENGTH)
      this.#title += this.#html.slice(start, end);
  }

  onattribname(start: number, end: number): void {
    if (!this.#isRead) return;
    this.#attribute = attributeOf(this.#html, start, end);
    this.#value = '';
  }

  onattribdata(start: number, end: number): void {
    if (this.#attribute !== undefined) this.#value += this.#html.slice(start, end);
  }

  onattribend(): void {
    if (this.#attribute === undefined) return;
    const value = this.#value.includes('&') ? decodeHTMLAttribute(this.#value) : this.#value;
    if (this.#attribute === 'href') this.#href ??= value;
    else if (this.#attribute === 'rel') this.#rel = value;
    else if (this.#attribute === 'name') this.#name = value;
    else this.#content = value;
    this.#attribute = undefined;
  }

  // What follows says nothing about title or links.
  onattribentity(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
  ontextentity(): void {}

  /** All that an element says in its attributes. */
  #readElement(): void {
    if (!this.#isRead) return;
    this.#isRead = false;
    const href = this.#href;
    switch (this.#tag) {
      case 'a':
      case 'area':
        if (href !== undefined) this.#addLink(href.trim(), hasWord(this.#rel, 'nofollow'));
        break;
      case 'base':
        if (href !== undefined) this.#setBase(href);
        break;
      case 'link':
        if (href !== undefined && hasWord(this.#rel, 'canonical'))
          this.#canonical ??= resolveLink(href.trim(), this.#base);
        break;
      case 'meta':
        if (isRobotsMeta(this.#name) && forbidsFollowing(this.#content)) this.#isNofollow = true;
    }
  }

  #setBase(href: string): void {
    if (this.#hasBase) return;
    this.#base = linkBase(URL.parse(href, this.#url)?.href ?? this.#url);
    this.#hasBase = true;
  }

  #addLink(href: string, isNofollow: boolean): void {
    // `#top` and the like lead nowhere else.
    if (href === '' || href.startsWith('#') || this.#links.size >= MAX_LINKS) return;
    const link = resolveLink(href, this.#base);
    if (link === undefined) return;
    // Where it stands once without, it may be followed.
    if (isNofollow && !this.#links.has(link)) this.#nofollow.add(link);
    else if (!isNofollow && this.#nofollow.size > 0) this.#nofollow.delete(link);
    this.#links.add(link);
  }
}

/** This is asked of every element: comparing is quicker than looking up. */
function isRead(tag: string): boolean {
  return tag === 'a' || tag === 'link' || tag === 'meta' || tag === 'area' || tag === 'base';
}

function attributeOf(html: string, start: number, end: number): 'href' | 'rel' | 'name' | 'content' | undefined {
  const length = end - start;
  if (length !== 3 && length !== 4 && length !== 7) return undefined;
  const name = html.slice(start, end).toLowerCase();
  return name === 'href' || name === 'rel' || name === 'name' || name === 'content' ? name : undefined;
}

/** Is a word one of a list that white space divides? */
function hasWord(list: string, word: string): boolean {
  return list !== '' && list.toLowerCase().split(/\s+/).includes(word);
}

/** Elements whose content nobody reads. */
const UNREAD = new Set(['script', 'style', 'noscript', 'template', 'head', 'svg']);
/** Elements that begin a new line. */
const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt figcaption footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul'.split(
    ' ',
  ),
);

/** Of a page that nests deeper, the text up to there is read: what follows would take longer with each level. */
const MAX_DEPTH = 1_000;

/** The text of an HTML page that a reader sees, a line per block, white space folded. */
export function readText(html: string): string {
  const parts: string[] = [];
  let unread = 0;
  let depth = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (++depth > MAX_DEPTH) parser.pause();
      if (UNREAD.has(name)) unread++;
      else if (BLOCKS.has(name)) parts.push('\n');
    },
    ontext(text) {
      if (unread === 0) parts.push(text.replaceAll(/\s+/g, ' '));
    },
    onclosetag(name) {
      depth--;
      if (UNREAD.has(name)) unread--;
      else if (BLOCKS.has(name)) parts.push('\n');
    },
  });
  parser.end(html);
  return parts
    .join('')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}
