import { UrlLines } from '../url/urls-file.ts';
import { JsonFeed } from './json-feed.ts';
import { pageEntries, type SitemapEntry, type SitemapKind } from './sitemap-entry.ts';
import { SitemapXml } from './sitemap-xml.ts';

/** Characters within which it is decided whether a document is text. */
const HEAD_LENGTH = 4096;

export interface SitemapOptions {
  /** Reads any text without markup as a list of URLs, and an unknown document as `text`. For files that a person named. */
  readonly anyText?: boolean;
  /** URL of the document after redirects, against which locations are resolved. Left out for a file: its locations stay as written. */
  readonly url?: string;
}

/**
 * Reads a sitemap of any kind as its text arrives. It never throws: from a broken document it returns the complete entries.
 *
 * Locations and namespaces are not checked: sitemaps.org forbids entries of other hosts, but the scope of a crawl is not for a
 * sitemap to decide. Source: https://www.sitemaps.org/protocol.html
 */
export class SitemapParser {
  readonly #anyText: boolean;
  readonly #url: string | undefined;
  #head = '';
  #body: Body | undefined;
  #isUnknown = false;
  #truncated = false;

  constructor({ anyText = false, url }: SitemapOptions = {}) {
    this.#anyText = anyText;
    this.#url = url;
  }

  /** Reads a chunk and returns the entries that it completed. */
  write(chunk: string): readonly SitemapEntry[] {
    if (this.#isUnknown) return [];
    if (this.#body !== undefined) return this.#read(this.#body, chunk);
    // Any number of blank lines may precede the declaration.
    this.#head = (this.#head + chunk).trimStart();
    return this.#startBody(false);
  }

  /** Ends the document and returns the entries still pending. */
  end(): readonly SitemapEntry[] {
    const first = this.#body === undefined ? this.#startBody(true) : [];
    if (this.#body === undefined) return first;
    if (this.#body instanceof UrlLines) return [...first, ...pageEntries(this.#body.end())];
    if (this.#body instanceof JsonFeed) {
      const entries = this.#body.end();
      this.#truncated = this.#body.isCut;
      return entries;
    }
    const { entries, truncated } = this.#body.end();
    this.#truncated = truncated;
    return [...first, ...entries];
  }

  /** The kind of the document, as far as it is known yet. */
  get kind(): SitemapKind {
    if (this.#body instanceof UrlLines) return 'text';
    if (this.#body !== undefined) return this.#body.kind;
    return this.#head === '' && !this.#isUnknown ? 'empty' : 'unknown';
  }

  /**
   * After {@link end}: did the document end before its root element did, or does a JSON Feed have more than is read? Never for text,
   * which has no end marker.
   */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** Is the document a list that looks like a table? Nothing is read from it; see {@link UrlLines.isTable}. */
  get isTable(): boolean {
    return this.#body instanceof UrlLines && this.#body.isTable;
  }

  /** Number of URLs left out because they contain entities that the document declares. */
  get unexpanded(): number {
    return this.#body instanceof SitemapXml ? this.#body.unexpanded : 0;
  }

  /** Is it certain that no further input will yield an entry? Then reading can stop. */
  get isOver(): boolean {
    const body = this.#body;
    return this.#isUnknown || (body instanceof UrlLines ? this.isTable : body?.isOver === true);
  }

  #startBody(isEnd: boolean): readonly SitemapEntry[] {
    const head = this.#head;
    if (head === '') return [];
    const start = startOf(head, isEnd || head.length >= HEAD_LENGTH, this.#anyText);
    if (start === undefined) return [];
    this.#head = '';
    if (start === 'unknown') {
      this.#isUnknown = true;
      return [];
    }
    this.#body = newBody(start, this.#url);
    return this.#read(this.#body, head);
  }

  #read(body: Body, chunk: string): readonly SitemapEntry[] {
    return body instanceof UrlLines ? pageEntries(body.write(chunk)) : body.write(chunk);
  }
}

type Body = SitemapXml | JsonFeed | UrlLines;

function newBody(start: 'xml' | 'json' | 'text', url: string | undefined): Body {
  if (start === 'text') return new UrlLines();
  return start === 'xml' ? new SitemapXml(url) : new JsonFeed(url);
}

/** Returns how a document is to be read, from its beginning; nothing until that is certain. */
function startOf(head: string, isWhole: boolean, anyText: boolean): 'xml' | 'json' | 'text' | 'unknown' | undefined {
  if (head.startsWith('<')) return 'xml';
  if (head.startsWith('{')) return 'json';
  if (/^https?:\/\//i.test(firstLineOf(head))) return 'text';
  if (!isWhole) return undefined;
  // The server may have printed a warning in front of the document.
  if (/<\?xml\s|<(?:\w+:)?(?:urlset|sitemapindex|rss|rdf|feed)[\s>]/i.test(head)) return 'xml';
  return anyText ? 'text' : 'unknown';
}

/** Returns the text from the first line that is neither blank nor a comment. */
function firstLineOf(head: string): string {
  let line = head;
  while (line.startsWith('#')) {
    const end = line.search(/[\r\n]/);
    line = end < 0 ? '' : line.slice(end).trimStart();
  }
  return line;
}
