import type { QueryEncoder } from '../../task/url/url.ts';
import { HtmlReader } from '../html/reader.ts';
import { END_OF_PAGE, START_TAG, TEXT } from '../html/tokenizer.ts';
import { type Document, DocumentNotes } from './document-notes.ts';

/**
 * Reads an HTML page's title and links in one pass, without building a tree.
 *
 * @param url the page's URL, after redirects
 * @param encodeQuery writes the queries of links, for a page that isn't in UTF-8
 */
export function readDocument(html: string, url: string, isXml = false, encodeQuery?: QueryEncoder): Document {
  const reader = new DocumentReader(html, url, isXml, encodeQuery);
  reader.read(html.length);
  return reader.document();
}

/** {@link readDocument} in steps, for large pages. */
export class DocumentReader {
  readonly #reader: HtmlReader;
  readonly #notes: DocumentNotes;

  /** @param isXml whether the page is XHTML */
  constructor(html: string, url: string, isXml: boolean, encodeQuery?: QueryEncoder) {
    this.#reader = new HtmlReader(html, isXml);
    this.#notes = new DocumentNotes(html, url, this.#reader.tokenizer, encodeQuery);
  }

  /** Reads about this many more characters. Returns `true` at the end of the page. */
  read(characters: number): boolean {
    const { tokenizer } = this.#reader;
    const end = tokenizer.position + characters;
    let isTitle = false;
    do {
      const token = this.#reader.next();
      if (token === END_OF_PAGE) return true;
      if (token === TEXT && isTitle) this.#notes.title(tokenizer.textStart, tokenizer.textEnd);
      isTitle = token === START_TAG && this.#element();
    } while (isTitle || tokenizer.position < end);
    return false;
  }

  /** Returns `true` if the text that follows is the page's title. */
  #element(): boolean {
    if (!this.#reader.isFrameset) return this.#notes.element(this.#reader);
    this.#notes.inFrameset();
    return false;
  }

  document(): Document {
    const document = this.#notes.document();
    // A page of frames has no other elements.
    return this.#reader.isFrameset ? { ...document, links: [], nofollow: new Set(), logins: new Map() } : document;
  }
}
