import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { decodeStream } from '../../shared/crawler/document/charset.ts';
import { messageOf, StorageError } from '../../shared/runtime/errors.ts';
import { parseRobots } from '../../shared/task/robots/robots.ts';
import { meaningOfStatus } from '../../shared/task/robots/robots-answer.ts';
import { MAX_CRAWL_DELAY_MS } from '../../shared/task/robots/robots-match.ts';
import { MAX_ROBOTS_BYTES, sitemapsIn, wholeLinesLength } from '../../shared/task/robots/robots-sitemaps.ts';
import { pageEntries } from '../../shared/task/sitemap/sitemap-entry.ts';
import { type Logins, withLogin } from '../../shared/task/url/logins.ts';
import { type CrawlUrl, hostKeyOf } from '../../shared/task/url/url.ts';
import { NO_URL_COLUMN } from '../../shared/task/url/url-table.ts';
import { UrlLines } from '../../shared/task/url/urls-file.ts';
import { BodyError } from './documents/body-error.ts';
import { DocumentError, type DocumentFetcher } from './documents/document-fetcher.ts';
import { unpacked } from './documents/unpacking.ts';
import type { SeedEvent } from './seed-event.ts';
import type { Seed } from './seeds.ts';
import type { SitemapReader, SitemapTree } from './sitemaps/sitemap-reader.ts';

/** What the sitemaps of a site gave. */
interface SiteSitemaps {
  /** Whether its pages were found. */
  readonly hasPages: boolean;
  /** Whether there is a sitemap at all. */
  readonly isThere: boolean;
  /** Whether its robots.txt could be fetched. If not, nothing else was requested from its host. */
  readonly isReachable: boolean;
}

type Entries = Extract<SeedEvent, { readonly kind: 'entries' }>;

interface SeedReaderOptions {
  readonly documents: DocumentFetcher;
  readonly sitemaps: SitemapReader;
  /** The input behind the seed `-`. */
  readonly input: Readable;
  /** Whether the run follows links, so that a site without a sitemap needs no hint. */
  readonly follow: boolean;
  /** Slows a host down to the pace its robots.txt asks for; undefined if the rules are ignored. */
  readonly slow: ((host: string, intervalMs: number) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
}

/** Finds the URLs that seeds stand for. A URL that turns out not to be a sitemap counts as a page, whatever its answer, so no seed gets lost. */
export class SeedReader {
  readonly #options: SeedReaderOptions;
  /** Credentials of the seed being read. */
  #logins: Logins | undefined;

  constructor(options: SeedReaderOptions) {
    this.#options = options;
  }

  /** Reads a seed. Its credentials are used for everything of its origin that it leads to: robots.txt, sitemaps and pages. */
  async *read(seed: Seed): AsyncGenerator<SeedEvent, void, void> {
    const logins = 'logins' in seed ? seed.logins : undefined;
    this.#logins = logins;
    for await (const found of this.#read(seed)) {
      yield logins !== undefined && found.kind === 'entries' ? { ...found, logins } : found;
    }
  }

  async *#read(seed: Seed): AsyncGenerator<SeedEvent, void, void> {
    switch (seed.kind) {
      case 'page':
        yield page(seed.url);
        break;
      case 'site':
        yield* this.#readSite(seed.url);
        break;
      case 'robots':
        yield* this.#readRobots(seed.url);
        break;
      case 'maybe_sitemap':
        yield* this.#readMaybe(seed.url);
        break;
      case 'file':
        yield* this.#readFile(seed.path);
        break;
      case 'list':
        yield* this.#readList(seed.path, createReadStream(seed.path));
        break;
      case 'input':
        yield* this.#readList('standard input', this.#options.input);
    }
  }

  async *#readSite(url: string): AsyncGenerator<SeedEvent, void, void> {
    const { follow } = this.#options;
    const { hasPages, isThere, isReachable } = yield* this.#readSitemapsOf(url);
    if (hasPages && !follow) return;
    const found = isThere ? 'its sitemaps name no pages' : 'no sitemap found';
    if (isReachable && !follow) yield { kind: 'hint', hint: `${url}: ${found}; --follow follows its links` };
    // Links are also followed from the site's own page, since its sitemaps can be old or incomplete. If they list that page, it is no
    // duplicate.
    yield { ...page(url), again: hasPages };
  }

  async *#readRobots(url: string): AsyncGenerator<SeedEvent, void, void> {
    const { isThere, isReachable } = yield* this.#readSitemapsOf(url);
    if (isThere || !isReachable) return;
    yield { kind: 'problem', source: url, problem: 'leads to no sitemap, and there is none at /sitemap.xml' };
  }

  /** Reads the sitemaps that a site's robots.txt names, or else its `/sitemap.xml`. */
  async *#readSitemapsOf(url: string): AsyncGenerator<SeedEvent, SiteSitemaps, void> {
    const { sitemaps, slow } = this.#options;
    const robots = new URL('/robots.txt', url).href;
    let named: readonly CrawlUrl[] = [];
    let isReachable = true;
    try {
      const text = await this.#robotsText(robots);
      named = sitemapsIn(text, robots);
      await this.#keepDelay(text, robots);
    } catch (error: unknown) {
      if (!(error instanceof DocumentError)) throw error;
      const { status, message } = error;
      const isAnswer = status !== undefined && meaningOfStatus(status) !== 'wait';
      if (!isAnswer)
        yield { kind: 'problem', source: robots, problem: `${message}; the sitemaps that it names are not read` };
      isReachable = isAnswer || (status !== undefined && slow === undefined);
    }
    const trees: SitemapTree[] = [];
    for (const { href: sitemap, login } of named) {
      const tree = yield* sitemaps.readUrl(sitemap, withLogin(this.#logins, sitemap, login));
      if (tree.problem !== undefined) yield { kind: 'problem', source: sitemap, problem: tree.problem };
      trees.push(tree);
    }
    // A missing sitemap is reported only if robots.txt names it.
    if (!trees.some(hasPages) && isReachable)
      trees.push(yield* sitemaps.readUrl(new URL('/sitemap.xml', url).href, this.#logins));
    const isThere = trees.some(({ problem }) => problem === undefined);
    return { hasPages: trees.some(hasPages), isThere, isReachable };
  }

  async *#readMaybe(url: string): AsyncGenerator<SeedEvent, void, void> {
    const { kind, problem } = yield* this.#options.sitemaps.readUrl(url, this.#logins);
    if (problem === undefined) return;
    if (kind === 'unread') yield { kind: 'problem', source: url, problem };
    else yield { kind: 'hint', hint: `${url} ${problem}: it is crawled as a page` };
    yield page(url);
  }

  async *#readFile(path: string): AsyncGenerator<SeedEvent, void, void> {
    const { problem } = yield* this.#options.sitemaps.readFile(path);
    if (problem !== undefined) yield { kind: 'problem', source: path, problem };
  }

  async *#readList(source: string, input: Readable): AsyncGenerator<SeedEvent, void, void> {
    yield { kind: 'reading', source };
    const lines = new UrlLines();
    let isEmpty = true;
    const found = (urls: readonly string[]): SeedEvent => {
      isEmpty &&= urls.length === 0;
      return entries(urls);
    };
    try {
      const bytes = unpacked(addAbortSignal(this.#options.signal, input), Number.POSITIVE_INFINITY);
      for await (const text of decodeStream(bytes)) {
        yield found(lines.write(text));
        if (lines.isTable) break;
      }
    } catch (error: unknown) {
      if (!(error instanceof BodyError)) throw this.#options.signal.aborted ? error : unreadable(source, error);
      yield { kind: 'problem', source, problem: `${error.message}; its end is missing` };
    }
    yield found(lines.end());
    if (lines.isTable) yield { kind: 'problem', source, problem: NO_URL_COLUMN };
    else if (isEmpty) yield { kind: 'hint', hint: `${source} has no URLs` };
  }

  /** Applies the Crawl-delay to the site's sitemaps too, which are requested before any of its pages. */
  async #keepDelay(text: string, url: string): Promise<void> {
    const { crawlDelayMs = 0 } = parseRobots(Buffer.from(text));
    if (crawlDelayMs === 0 || crawlDelayMs > MAX_CRAWL_DELAY_MS) return;
    await this.#options.slow?.(hostKeyOf(new URL(url)), crawlDelayMs);
  }

  async #robotsText(url: string): Promise<string> {
    let text = '';
    try {
      const { documents, signal, slow } = this.#options;
      const options = { maxBytes: MAX_ROBOTS_BYTES, signal, logins: this.#logins, pausesHost: slow !== undefined };
      for await (const piece of documents.read(url, options)) {
        text = typeof piece === 'string' ? text + piece : '';
      }
    } catch (error: unknown) {
      // Text beyond the size limit or behind broken data doesn't count; the whole lines before it do.
      if (!(error instanceof BodyError || (error instanceof DocumentError && text !== ''))) throw error;
      text = text.slice(0, wholeLinesLength(text));
    }
    return text;
  }
}

function unreadable(source: string, error: unknown): StorageError {
  return new StorageError(`${source} can't be read: ${messageOf(error)}`, { cause: error });
}

/** A sitemap that an earlier seed read had its pages found there. */
function hasPages({ kind, pages }: SitemapTree): boolean {
  return pages > 0 || kind === 'known';
}

function page(url: string): Entries {
  return entries([url]);
}

function entries(urls: readonly string[]): Entries {
  return { kind: 'entries', entries: pageEntries(urls), again: false };
}
