import type { LinkBase } from '../url/url.ts';
import { laterDate } from './lastmod.ts';
import { MAX_LOC_LENGTH, type SitemapEntry, type SitemapKind } from './sitemap-entry.ts';
import { locationBase, resolveLocation } from './sitemap-location.ts';
import { XmlElements, type XmlHandler, type XmlName } from './xml-elements.ts';

/** Kinds of documents by their root elements. */
const ROOTS: ReadonlyMap<string, SitemapKind> = new Map([
  ['urlset', 'urlset'],
  ['sitemapindex', 'index'],
  ['rss', 'feed'],
  ['rdf', 'feed'],
  ['feed', 'feed'],
  ['html', 'html'],
  ['head', 'html'],
  ['body', 'html'],
]);
/** The elements that stand for one entry. A document with an unknown root is read as a sitemap. */
const SITEMAP_ENTRIES: ReadonlySet<string> = new Set(['url', 'sitemap']);
const FEED_ENTRIES: ReadonlySet<string> = new Set(['item', 'entry']);
const DATES: ReadonlySet<string> = new Set(['lastmod', 'pubdate', 'date', 'updated', 'published']);
/** Namespaces of sitemaps, by any publisher and of any version. Those of extensions have another word: `sitemap-image`. */
const SITEMAP_NAMESPACE = /^https?:\/\/[^?#]*\/schemas\/sitemap\//i;
/** The namespace of Atom (RFC 4287 section 2), whose links feeds of other kinds also have. */
const ATOM_NAMESPACE = 'http://www.w3.org/2005/Atom';
/** The relation of a link to the page itself, by its name or in full (RFC 4287 section 4.2.7.2). */
const ALTERNATE = /^(?:http:\/\/www\.iana\.org\/assignments\/relation\/)?alternate$/i;
/** Maximum prefixes whose namespaces are remembered. */
const MAX_PREFIXES = 100;
/** Characters within which a sitemap must have a known root element: one megabyte. */
const ROOT_WITHIN = 1_048_576;

/** The element that the current text belongs to. `direct`: the entry itself, since some sitemaps have no `loc` elements. */
type Field = 'loc' | 'guid' | 'date' | 'direct' | undefined;

/**
 * Reads a sitemap, sitemap index, RSS or Atom feed as its XML arrives.
 *
 * A `loc` counts only as a child of `url` or `sitemap`, with its parent's prefix, no prefix, or one of a sitemap's namespace: `image:loc` is
 * not a page. The URL of a feed's entry is the first of: `link` (in Atom without `rel`, or with `rel="alternate"`), Atom's `link` in another
 * feed, a `guid` that is a URL. A `loc` that the end of the document cuts off is dropped; a complete one counts even if its `url` was never
 * closed.
 *
 * Relative locations are resolved against the document; in feeds, against the nearest `xml:base` (RFC 4287 section 2).
 */
export class SitemapXml implements XmlHandler {
  readonly #elements = new XmlElements(this);
  #kind: SitemapKind = 'unknown';
  #rootDepth = 0;
  #read = 0;
  #entries: SitemapEntry[] = [];
  #entryDepth = 0;
  #to: SitemapEntry['to'] = 'page';
  #field: Field;
  #fieldDepth = 0;
  #text = '';
  #loc = '';
  #lastmod: string | undefined;
  #guid = '';
  #direct = '';
  /** Atom's link in an entry of another feed, and its base. */
  #atomLink = '';
  #atomBase: LinkBase | undefined;
  /** The prefix of the current `loc` or `link`, if it is neither its parent's nor empty. */
  #foreignPrefix: string | undefined;
  /** Namespaces by prefix. The last declaration counts, wherever it is. */
  readonly #namespaces = new Map<string, string>();
  #rel = '';
  #href = '';
  #isNews = false;
  /** Depth of the element opened last. */
  #depth = 0;
  readonly #documentBase: LinkBase | undefined;
  /** The `xml:base` of each open element that has one, the innermost last. */
  readonly #bases: { readonly depth: number; readonly base: LinkBase }[] = [];
  #locBase: LinkBase | undefined;
  #hasEntities = false;
  readonly #external = new Set<string>();
  #unexpanded = 0;

  wantsText = false;

  /** @param url of the document, after redirects; nothing for a file */
  constructor(url?: string) {
    this.#documentBase = url === undefined ? undefined : locationBase(url);
  }

  /** Feeds have links and bases in attributes. In a sitemap only prefixes matter, which are declared outside entries or where they are used. */
  get wantsAttributes(): boolean {
    if (this.#kind === 'feed' || this.#foreignPrefix !== undefined) return true;
    return this.#entryDepth === 0 || this.#depth === this.#entryDepth;
  }

  get kind(): SitemapKind {
    return this.#kind;
  }

  /** Number of URLs left out because they contain entities that the document declares, which are not expanded. */
  get unexpanded(): number {
    return this.#unexpanded;
  }

  /** Is it certain that no further input will yield an entry? */
  get isOver(): boolean {
    return this.#kind === 'html' || (this.#kind === 'unknown' && this.#read > ROOT_WITHIN);
  }

  write(chunk: string): readonly SitemapEntry[] {
    if (this.isOver) return [];
    this.#read += chunk.length;
    this.#elements.write(chunk);
    return this.#takeEntries();
  }

  /** Ends the document. `truncated`: its root was still open. */
  end(): { readonly entries: readonly SitemapEntry[]; readonly truncated: boolean } {
    this.#elements.end();
    if (!this.#elements.endsInEndTag) this.#direct = '';
    else if (this.#field === 'loc') this.#closeField();
    this.#flush();
    return { entries: this.#takeEntries(), truncated: this.#rootDepth > 0 };
  }

  onOpen(name: XmlName, parent: XmlName | undefined, depth: number): void {
    this.#depth = depth;
    if (this.#rootDepth === 0 && this.#openRoot(name, depth)) return;
    // Elements inside a `loc` are ignored; their text belongs to it.
    if (this.#field === 'loc') return;
    const isFeed = this.#kind === 'feed';
    if ((isFeed ? FEED_ENTRIES : SITEMAP_ENTRIES).has(name.local)) {
      this.#openEntry(name.local === 'sitemap' ? 'sitemap' : 'page', depth);
    } else if (this.#entryDepth > 0 && depth === this.#entryDepth + 1) {
      this.#openChild(name, name.prefix === '' || name.prefix === parent?.prefix, depth);
    } else {
      this.#setField(undefined, depth);
    }
  }

  onClose(_name: XmlName, depth: number): void {
    if (depth === this.#fieldDepth) this.#closeField();
    if (depth === this.#entryDepth) {
      this.#flush();
      this.#entryDepth = 0;
      this.#setField(undefined, 0);
    } else if (depth === this.#entryDepth + 1 && this.#entryDepth > 0) {
      this.#setField(this.#loc === '' ? 'direct' : undefined, this.#entryDepth);
    }
    if (depth === this.#rootDepth) this.#rootDepth = 0;
    if (this.#bases.at(-1)?.depth === depth) this.#bases.pop();
  }

  onText(piece: string, depth: number): void {
    if (this.#field === 'direct') {
      if (depth === this.#entryDepth) this.#direct = appended(this.#direct, piece);
    } else {
      this.#text = appended(this.#text, piece);
    }
  }

  onAttribute(name: string, value: string): void {
    if (name.startsWith('xmlns:')) {
      if (this.#namespaces.size < MAX_PREFIXES) this.#namespaces.set(name.slice('xmlns:'.length), value.trim());
      return;
    }
    if (this.#kind !== 'feed') return;
    const isOfLink = this.#field === 'loc' && this.#depth === this.#fieldDepth;
    // A base on any other child of an entry doesn't concern its link.
    if (name === 'xml:base') {
      if (isOfLink || this.#entryDepth === 0 || this.#depth === this.#entryDepth) this.#openBase(value);
    } else if (isOfLink) {
      if (name === 'href') this.#href = value;
      else if (name === 'rel') this.#rel = value;
    }
  }

  onDeclaration(text: string | undefined): void {
    if (this.#kind !== 'unknown') return;
    if (text === undefined || text.includes('ENTITY')) this.#noteEntities(text);
    else if (/^doctype\s+html\b/i.test(text)) this.#kind = 'html';
  }

  #noteEntities(declaration = ''): void {
    this.#hasEntities = true;
    for (const [, name = ''] of declaration.matchAll(/ENTITY\s+([\w.-]+)\s+(?:SYSTEM|PUBLIC)\b/g))
      this.#external.add(name);
  }

  #openRoot(name: XmlName, depth: number): boolean {
    const kind = ROOTS.get(name.local);
    if (kind === undefined || (kind === 'html' && this.#kind !== 'unknown')) return false;
    this.#kind = kind;
    this.#rootDepth = depth;
    return true;
  }

  get #base(): LinkBase | undefined {
    return this.#bases.at(-1)?.base ?? this.#documentBase;
  }

  /** Notes the `xml:base` of an element. If an element has several, the first counts. */
  #openBase(written: string): void {
    if (this.#bases.at(-1)?.depth === this.#depth) return;
    const base = locationBase(written, this.#base);
    if (base !== undefined) this.#bases.push({ depth: this.#depth, base });
  }

  #openEntry(to: SitemapEntry['to'], depth: number): void {
    this.#flush();
    this.#to = to;
    this.#entryDepth = depth;
    this.#setField('direct', depth);
  }

  #openChild({ local, prefix }: XmlName, isOwn: boolean, depth: number): void {
    const isFeed = this.#kind === 'feed';
    if (local === 'news' && !isFeed) this.#isNews = true;
    if (DATES.has(local)) {
      this.#setField('date', depth);
    } else if (local === (isFeed ? 'link' : 'loc')) {
      this.#rel = '';
      this.#href = '';
      this.#setField('loc', depth);
      if (!isOwn) this.#foreignPrefix = prefix;
    } else {
      this.#setField(isFeed && isOwn && local === 'guid' ? 'guid' : undefined, depth);
    }
  }

  #setField(field: Field, depth: number): void {
    this.#field = field;
    this.#fieldDepth = depth;
    this.#foreignPrefix = undefined;
    this.#text = '';
    this.wantsText = field !== undefined;
  }

  #closeField(): void {
    const text = this.#text.trim();
    if (this.#field === 'date') this.#lastmod = this.#lastmod === undefined ? text : laterDate(this.#lastmod, text);
    else if (this.#field === 'guid') this.#guid = text;
    else if (this.#field === 'loc') this.#closeLoc(text);
  }

  #closeLoc(text: string): void {
    const isFeed = this.#kind === 'feed';
    const namespace = this.#foreignPrefix === undefined ? undefined : (this.#namespaces.get(this.#foreignPrefix) ?? '');
    const isAlternate = this.#rel === '' || ALTERNATE.test(this.#rel);
    const href = isAlternate ? this.#href.trim() : '';
    if (isFeed && namespace !== undefined) {
      if (namespace !== ATOM_NAMESPACE || this.#atomLink !== '') return;
      this.#atomLink = href;
      this.#atomBase = this.#base;
      return;
    }
    if (namespace !== undefined && !SITEMAP_NAMESPACE.test(namespace)) return;
    // Some documents have several `loc` in one `sitemap`.
    if (!isFeed && this.#loc !== '' && text !== '') this.#flush();
    if (this.#loc !== '') return;
    this.#loc = text || href;
    this.#locBase = this.#base;
  }

  /** Emits the pending entry, if there is one. */
  #flush(): void {
    const written = this.#loc || this.#atomLink || urlIn(this.#guid) || urlIn(this.#direct);
    const location = this.#hasEntities ? this.#withoutEntities(written) : written;
    if (location !== '') {
      const loc = resolveLocation(location, this.#loc === '' ? this.#atomBase : this.#locBase);
      const entry = { loc, lastmod: this.#lastmod, to: this.#to };
      this.#entries.push(this.#isNews ? { ...entry, isNews: true } : entry);
      if (this.#kind === 'unknown') this.#kind = this.#to === 'page' ? 'urlset' : 'index';
    }
    this.#loc = '';
    this.#atomLink = '';
    this.#guid = '';
    this.#direct = '';
    this.#lastmod = undefined;
    this.#isNews = false;
  }

  /**
   * Entities that a document declares are never expanded. References to external ones are removed, since those are not loaded.
   * Any other could stand for anything, so a `loc` that contains one is dropped.
   */
  #withoutEntities(loc: string): string {
    const left = loc.replaceAll(/&([\w.-]+);/g, (reference, name: string) =>
      this.#external.has(name) ? '' : reference,
    );
    if (!/&[\w.-]+;/.test(left)) return left;
    this.#unexpanded++;
    return '';
  }

  #takeEntries(): readonly SitemapEntry[] {
    const entries = this.#entries;
    if (entries.length > 0) this.#entries = [];
    return this.#kind === 'html' ? [] : entries;
  }
}

/** Adds a piece to a text that isn't too long yet. Leading white space is dropped: counted, it would let a URL be cut to a valid one. */
function appended(text: string, piece: string): string {
  if (text.length > MAX_LOC_LENGTH) return text;
  return text === '' ? piece.trimStart() : text + piece;
}

/** Returns a text from a place where URLs are optional, trimmed, if it looks like a URL; otherwise an empty text. */
function urlIn(text: string): string {
  const trimmed = text.trim();
  return /^https?:\/\//i.test(trimmed) ? trimmed : '';
}
