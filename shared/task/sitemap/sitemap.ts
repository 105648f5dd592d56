import { UrlLines } from '../url/urls-file.ts';
import type { SitemapEntry, SitemapKind } from './sitemap-entry.ts';
import { SitemapXml } from './sitemap-xml.ts';

/** How much of a document decides whether it is text. */
const HEAD_LENGTH = 4096;

export interface SitemapOptions {
  /** Takes any text that is no markup as a list of URLs, and a document that is neither as `text`. For files that somebody named. */
  readonly anyText?: boolean;
  /** Of the document, after redirects: relative locations are resolved against it. A file has none, and its own stay as they are. */
  readonly url?: string;
}

/**
 * A sitemap of any kind, read as its text arrives. It never throws: from a broken document it keeps what is complete.
 *
 * Locations and namespaces are not checked: sitemaps.org forbids entries of other hosts, but scope is not a sitemap's to
 * decide. Source: https://www.sitemaps.org/protocol.html
 */
export class SitemapParser {
  readonly #anyText: boolean;
  readonly #url: string | undefined;
  #head = '';
  #body: SitemapXml | UrlLines | undefined;
  #isUnknown = false;
  #truncated = false;

  constructor({ anyText = false, url }: SitemapOptions = {}) {
    this.#anyText = anyText;
    this.#url = url;
  }

  /** Reads on, and returns the entries that are complete by now. */
  write(chunk: string): readonly SitemapEntry[] {
    if (this.#isUnknown) return [];
    if (this.#body !== undefined) return this.#entriesOf(this.#body.write(chunk));
    // Blank lines before the declaration, however many, say nothing.
    this.#head = (this.#head + chunk).trimStart();
    return this.#startBody(false);
  }

  /** The document is over. Returns what was pending. */
  end(): readonly SitemapEntry[] {
    const first = this.#body === undefined ? this.#startBody(true) : [];
    if (this.#body === undefined) return first;
    if (this.#body instanceof UrlLines) return [...first, ...pages(this.#body.end())];
    const { entries, truncated } = this.#body.end();
    this.#truncated = truncated;
    return [...first, ...entries];
  }

  /** What the document is, as far as is known by now. */
  get kind(): SitemapKind {
    if (this.#body instanceof SitemapXml) return this.#body.kind;
    if (this.#body !== undefined) return 'text';
    return this.#head === '' && !this.#isUnknown ? 'empty' : 'unknown';
  }

  /** After {@link end}: the document stopped before its root did. Text has no end to miss. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** URLs that were left out, since they were made of the document's own entities. */
  get unexpanded(): number {
    return this.#body instanceof SitemapXml ? this.#body.unexpanded : 0;
  }

  /** Nothing more will come of this document: there is no need to read on. */
  get isOver(): boolean {
    return this.#isUnknown || (this.#body instanceof SitemapXml && this.#body.isOver);
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
    this.#body = start === 'xml' ? new SitemapXml(this.#url) : new UrlLines();
    return this.#entriesOf(this.#body.write(head));
  }

  #entriesOf(found: readonly SitemapEntry[] | readonly string[]): readonly SitemapEntry[] {
    return this.#body instanceof UrlLines ? pages(found as readonly string[]) : (found as readonly SitemapEntry[]);
  }
}

/** What a document begins with; nothing as long as that can't be said. */
function startOf(head: string, isWhole: boolean, anyText: boolean): 'xml' | 'text' | 'unknown' | undefined {
  if (head.startsWith('<')) return 'xml';
  if (/^https?:\/\//i.test(firstLineOf(head))) return 'text';
  if (!isWhole) return undefined;
  // A warning of the server's, printed before the document.
  if (/<\?xml\s|<(?:\w+:)?(?:urlset|sitemapindex|rss|rdf|feed)[\s>]/i.test(head)) return 'xml';
  return anyText ? 'text' : 'unknown';
}

/** The first line that says something. */
function firstLineOf(head: string): string {
  let line = head;
  while (line.startsWith('#')) {
    const end = line.search(/[\r\n]/);
    line = end < 0 ? '' : line.slice(end).trimStart();
  }
  return line;
}

function pages(urls: readonly string[]): readonly SitemapEntry[] {
  return urls.map((loc) => ({ loc, lastmod: undefined, to: 'page' }));
}
