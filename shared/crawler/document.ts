import { decodeHTML, decodeHTMLAttribute } from 'entities';
import { Parser, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { type LinkBase, linkBase, resolveLink } from '../task/url.ts';

/** What one pass over a page finds. */
export interface Document {
  /** The text of the first `<title>`, white space folded; null without one. */
  readonly title: string | null;
  /** The links of `<a>` and `<area>`, absolute, without fragments, each once, in the order they stand. */
  readonly links: readonly string[];
}

/** A page with more links than this keeps the first ones. */
export const MAX_LINKS = 10_000;
const MAX_TITLE_LENGTH = 2_000;

/** Reads title and links of an HTML page in one streaming pass; no tree is built. `url` is where the page was found. */
export function readDocument(html: string, url: string): Document {
  const reader = new DocumentReader(html, url);
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader);
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
  #tag = '';
  #isHref = false;
  #value = '';
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
    return { title: title === '' ? null : title, links: [...this.#links] };
  }

  onopentagname(start: number, end: number): void {
    // The names that matter are short.
    this.#tag = end - start <= 5 ? this.#html.slice(start, end).toLowerCase() : '';
    if (this.#tag === 'svg') this.#svgDepth++;
  }

  onopentagend(): void {
    // An SVG picture has titles of its own.
    if (this.#tag === 'title' && this.#titleState === 'ahead' && this.#svgDepth === 0) this.#titleState = 'inside';
  }

  onselfclosingtag(): void {
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
    const mayLink = this.#tag === 'a' || this.#tag === 'area' || this.#tag === 'base';
    this.#isHref = mayLink && end - start === 4 && this.#html.slice(start, end).toLowerCase() === 'href';
    this.#value = '';
  }

  onattribdata(start: number, end: number): void {
    if (this.#isHref) this.#value += this.#html.slice(start, end);
  }

  onattribend(): void {
    if (!this.#isHref) return;
    this.#isHref = false;
    const href = this.#value.includes('&') ? decodeHTMLAttribute(this.#value) : this.#value;
    if (this.#tag !== 'base') this.#addLink(href.trim());
    else if (!this.#hasBase) {
      this.#base = linkBase(URL.parse(href, this.#url)?.href ?? this.#url);
      this.#hasBase = true;
    }
  }

  // What follows says nothing about title or links.
  onattribentity(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
  ontextentity(): void {}

  #addLink(href: string): void {
    // `#top` and the like lead nowhere else.
    if (href === '' || href.startsWith('#') || this.#links.size >= MAX_LINKS) return;
    const link = resolveLink(href, this.#base);
    if (link !== undefined) this.#links.add(link);
  }
}

/** Elements whose content nobody reads. */
const UNREAD = new Set(['script', 'style', 'noscript', 'template', 'head', 'svg']);
/** Elements that begin a new line. */
const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt figcaption footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul'.split(
    ' ',
  ),
);

/** The text of an HTML page that a reader sees, a line per block, white space folded. */
export function readText(html: string): string {
  const parts: string[] = [];
  let unread = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (UNREAD.has(name)) unread++;
      else if (BLOCKS.has(name)) parts.push('\n');
    },
    ontext(text) {
      if (unread === 0) parts.push(text.replaceAll(/\s+/g, ' '));
    },
    onclosetag(name) {
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
