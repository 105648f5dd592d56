import { createReadStream } from 'node:fs';
import { decodeStream } from '../../../shared/crawler/document/charset.ts';
import { messageOf, StorageError } from '../../../shared/runtime/errors.ts';
import { isOlder } from '../../../shared/task/sitemap/lastmod.ts';
import type { SitemapEntry } from '../../../shared/task/sitemap/sitemap-entry.ts';
import { isWanted, type UrlPatterns } from '../../../shared/task/url/glob.ts';
import { type Logins, withLogin } from '../../../shared/task/url/logins.ts';
import { isProblem, readUrl, withoutCredentials } from '../../../shared/task/url/url.ts';
import { BodyError } from '../documents/body-error.ts';
import type { DocumentFetcher, DocumentStart } from '../documents/document-fetcher.ts';
import { unpacked } from '../documents/unpacking.ts';
import type { SeedEvent } from '../seed-event.ts';
import { type DocumentResult, SitemapDocument } from './sitemap-document.ts';

/** The result of reading a document and all sitemaps it names. */
export interface SitemapTree extends DocumentResult {
  /** Number of pages found in all of it, including those left out. */
  readonly pages: number;
}

/** Maximum depth of sitemaps, counting an index in an index in an index. */
const MAX_DEPTH = 10;
/** Maximum sitemaps in one run: a chain of ever new names has no loop to detect. */
const DEFAULT_MAX_SITEMAPS = 50_000;
/** Maximum characters of their URLs together, which are remembered until the end: some 300 for each. */
const DEFAULT_MAX_NAMES_LENGTH = 16 * 1024 ** 2;
/** Maximum sitemaps without pages, and invalid names of one index, that are reported one by one: there can be millions. */
const MOST_TOLD = 10;
/** Maximum entries of one sitemap: two hundred times the protocol's limit, which many ignore. */
const MAX_ENTRIES = 10_000_000;

interface SitemapReaderOptions {
  readonly documents: DocumentFetcher;
  /** Maximum bytes of one sitemap, unpacked. */
  readonly maxSitemapBytes: number;
  /** Maximum sitemaps in one run. Default: 50 000. */
  readonly maxSitemaps?: number;
  /** Maximum characters of their URLs together. Default: 16 MiB. */
  readonly maxNamesLength?: number;
  /** Entries last changed before this are left out; epoch milliseconds. */
  readonly since?: number | undefined;
  /** Pages that these patterns don't allow are left out of sitemaps on the web. A local file is taken as it is. */
  readonly patterns?: UrlPatterns;
  /** Returns whether the run takes no more URLs, so that no further sitemap is fetched. */
  readonly isEnough?: () => boolean;
  readonly signal: AbortSignal;
}

/** A document to read, and the number of indexes above it. */
interface PendingSitemap {
  readonly source: string;
  readonly depth: number;
  readonly logins?: Logins | undefined;
}

/** The reading of a sitemap and of those that it leads to. */
interface Reading {
  /** Grows while it is worked through: an index appends the sitemaps it names. */
  readonly waiting: PendingSitemap[];
  /** Number of documents that are whole sitemaps and name nothing. */
  bare: number;
}

/** What is said of a sitemap that names nothing. Other kinds are problems then. */
const BARE: Readonly<Partial<Record<DocumentResult['kind'], string>>> = {
  urlset: 'is a sitemap without pages',
  index: 'is an index without sitemaps',
  feed: 'is a feed without links to pages',
};

/** Problems with the names in an index. */
interface WrongNames {
  /** Number of names that are not URLs. */
  malformed: number;
  /** Whether the remaining names are not read. */
  isCut: boolean;
}

/**
 * Reads sitemaps, and the sitemaps that they name. Each is read once, whatever its names: a redirect to a sitemap that was read is not read
 * again. A sitemap that can't be read costs only its own pages, and is reported. Several trees can be read at once.
 */
export class SitemapReader {
  readonly #options: SitemapReaderOptions;
  /** Canonical URLs of the sitemaps that were read or wait to be. */
  readonly #known = new Set<string>();
  #knownLength = 0;
  #sitemaps = 0;
  #older = { pages: 0, sitemaps: 0 };
  #unwanted = 0;

  constructor(options: SitemapReaderOptions) {
    this.#options = options;
  }

  /** Number of documents read that are sitemaps, or files with a list. */
  get sitemaps(): number {
    return this.#sitemaps;
  }

  /** Pages and whole sitemaps that were left out because of their age. */
  get older(): { readonly pages: number; readonly sitemaps: number } {
    return this.#older;
  }

  /** Pages that were left out by the patterns. */
  get unwanted(): number {
    return this.#unwanted;
  }

  /**
   * Reads a sitemap on the web. It and the sitemaps it names can need logins. If it isn't a sitemap, the result says why, for the caller to
   * report.
   */
  async *readUrl(url: string, logins?: Logins): AsyncGenerator<SeedEvent, SitemapTree, void> {
    if (!this.#isNew(url)) return { kind: 'known', pages: 0 };
    return yield* this.#readTree({ source: url, depth: 0, logins }, this.#textOf(url, logins), false);
  }

  /**
   * Reads a local file: a sitemap, or a list of URLs.
   *
   * @throws StorageError if the file can't be read
   */
  async *readFile(path: string): AsyncGenerator<SeedEvent, SitemapTree, void> {
    return yield* this.#readTree({ source: path, depth: 0 }, textOfFile(path, this.#options.signal), true);
  }

  async *#readTree(
    top: PendingSitemap,
    text: AsyncIterable<DocumentStart | string>,
    anyText: boolean,
  ): AsyncGenerator<SeedEvent, SitemapTree, void> {
    const reading: Reading = { waiting: [], bare: 0 };
    const { waiting } = reading;
    const root = yield* this.#readOne(top, text, anyText, reading);
    let { pages } = root;
    for (const [at, child] of waiting.entries()) {
      if (this.#options.isEnough?.() === true) {
        const unread = waiting.length - at;
        yield {
          kind: 'hint',
          hint: `${top.source}: ${unread} of its sitemaps not read, since the run has reached its --limit of URLs`,
        };
        break;
      }
      const read = yield* this.#readOne(child, this.#textOf(child.source, child.logins), false, reading);
      if (read.problem !== undefined) yield { kind: 'problem', source: child.source, problem: read.problem };
      pages += read.pages;
    }
    const untold = reading.bare - MOST_TOLD;
    if (untold > 0) yield { kind: 'hint', hint: `${top.source}: further sitemaps without pages: ${untold}` };
    return { ...root, pages };
  }

  async *#readOne(
    self: PendingSitemap,
    text: AsyncIterable<DocumentStart | string>,
    anyText: boolean,
    reading: Reading,
  ): AsyncGenerator<SeedEvent, SitemapTree, void> {
    const { source } = self;
    const maxEntries = anyText ? Number.POSITIVE_INFINITY : MAX_ENTRIES;
    const document = new SitemapDocument({ source, text, anyText, maxEntries, isKnown: this.#askerOf(source) });
    let pages = 0;
    let isBare = true;
    const wrong = { malformed: 0, isCut: false };
    for await (const found of document.read()) {
      if (found.kind !== 'entries') {
        isBare &&= found.kind !== 'problem';
        yield found;
        continue;
      }
      const { again } = found;
      isBare = false;
      const all = found.entries.every(isPage) ? found.entries : found.entries.filter(isPage);
      const recent = this.#newEnough(all);
      const entries = anyText ? recent : this.#wanted(recent);
      if (entries.length > 0) yield { kind: 'entries', entries, again };
      if (!again) {
        pages += all.length;
        this.#older.pages += all.length - recent.length;
        this.#unwanted += recent.length - entries.length;
      }
      if (all.length < found.entries.length) {
        pages += yield* this.#append(found, self, reading.waiting, wrong);
      }
    }
    const untold = wrong.malformed - MOST_TOLD;
    if (untold > 0) yield { kind: 'problem', source, problem: `names further sitemaps that are not URLs: ${untold}` };
    const { problem, kind } = document.result;
    if (problem === undefined && kind !== 'known') this.#sitemaps++;
    const bare = problem === undefined && isBare ? BARE[kind] : undefined;
    if (bare !== undefined && ++reading.bare <= MOST_TOLD) yield { kind: 'hint', hint: `${source} ${bare}` };
    return { ...document.result, pages };
  }

  #newEnough(entries: readonly SitemapEntry[]): readonly SitemapEntry[] {
    return this.#options.since === undefined ? entries : entries.filter(({ lastmod }) => !this.#isTooOld(lastmod));
  }

  /** A location that isn't a URL is kept, to be reported as malformed. */
  #wanted(entries: readonly SitemapEntry[]): readonly SitemapEntry[] {
    const { patterns = {} } = this.#options;
    if (patterns.include === undefined && patterns.exclude === undefined) return entries;
    return entries.filter(({ loc }) => {
      const url = readUrl(loc);
      return isProblem(url) || isWanted(url.href, patterns);
    });
  }

  #isTooOld(lastmod: string | undefined): boolean {
    const { since } = this.#options;
    return since !== undefined && isOlder(lastmod, since);
  }

  /** Queues the sitemaps that an index names. Returns how many are left out because of their age. */
  *#append(
    { entries, again }: Extract<SeedEvent, { readonly kind: 'entries' }>,
    index: PendingSitemap,
    waiting: PendingSitemap[],
    wrong: WrongNames,
  ): Generator<SeedEvent, number, void> {
    const { source } = index;
    const { maxSitemaps = DEFAULT_MAX_SITEMAPS, maxNamesLength = DEFAULT_MAX_NAMES_LENGTH } = this.#options;
    const depth = index.depth + 1;
    let older = 0;
    for (const { loc, lastmod, to } of wrong.isCut ? [] : entries) {
      if (to === 'page') continue;
      if (this.#isTooOld(lastmod)) {
        if (!again) older++;
        continue;
      }
      const url = readUrl(loc);
      if (isProblem(url)) {
        if (again || ++wrong.malformed > MOST_TOLD) continue;
        yield {
          kind: 'problem',
          source,
          problem: `names a sitemap that is not a URL: ${withoutCredentials(loc)}: ${url.problem}`,
        };
      } else if (depth > MAX_DEPTH || this.#known.size >= maxSitemaps || this.#knownLength >= maxNamesLength) {
        const why =
          depth > MAX_DEPTH ? `is ${MAX_DEPTH} indexes deep` : `comes after ${this.#known.size} other sitemaps`;
        yield { kind: 'problem', source, problem: `${why}: its sitemaps from ${url.href} on are not read` };
        wrong.isCut = true;
        break;
      } else if (this.#isNew(url.href)) {
        waiting.push({ source: url.href, depth, logins: withLogin(index.logins, url.href, url.login) });
      }
    }
    this.#older.sitemaps += older;
    return older;
  }

  #textOf(url: string, logins: Logins | undefined): AsyncIterable<DocumentStart | string> {
    const { documents, maxSitemapBytes: maxBytes, signal } = this.#options;
    return documents.read(url, { maxBytes, signal, logins });
  }

  /** Marks a sitemap as known. Returns `false` if it already was. */
  #isNew(url: string): boolean {
    const mark = markOf(url);
    if (this.#known.has(mark)) return false;
    this.#known.add(mark);
    this.#knownLength += mark.length;
    return true;
  }

  /** Returns a function that checks whether a redirect led to a known sitemap. A document isn't known to itself, however often it is tried. */
  #askerOf(source: string): (finalUrl: string) => boolean {
    const own = new Set([markOf(source)]);
    return (finalUrl) => {
      const mark = markOf(finalUrl);
      if (own.has(mark)) return false;
      own.add(mark);
      return !this.#isNew(finalUrl);
    };
  }
}

function isPage({ to }: SitemapEntry): boolean {
  return to === 'page';
}

function markOf(url: string): string {
  const read = readUrl(url);
  return isProblem(read) ? url : read.canonical;
}

async function* textOfFile(path: string, signal: AbortSignal): AsyncGenerator<string, void, void> {
  try {
    yield* decodeStream(unpacked(createReadStream(path, { signal }), Number.POSITIVE_INFINITY));
  } catch (error: unknown) {
    if (error instanceof BodyError || signal.aborted) throw error;
    throw new StorageError(`${path} can't be read: ${messageOf(error)}`, { cause: error });
  }
}
