import { SitemapParser } from '../../../shared/task/sitemap/sitemap.ts';
import type { SitemapEntry, SitemapKind } from '../../../shared/task/sitemap/sitemap-entry.ts';
import { NO_URL_COLUMN } from '../../../shared/task/url/url-table.ts';
import { BodyError } from '../documents/body-error.ts';
import { DocumentError, type DocumentStart } from '../documents/document-fetcher.ts';
import type { SeedEvent } from '../seed-event.ts';

/** The result of reading one document. */
export interface DocumentResult {
  /** `unread`: none of it arrived. `known`: it was already read under another name. */
  readonly kind: SitemapKind | 'unread' | 'known';
  /** Why it isn't a sitemap, as the end of a sentence that begins with its name; undefined if it is one. */
  readonly problem?: string;
}

interface SitemapDocumentOptions {
  /** Its name, as shown to people. */
  readonly source: string;
  readonly text: AsyncIterable<DocumentStart | string>;
  /** See {@link SitemapOptions.anyText}. */
  readonly anyText: boolean;
  /** Maximum entries; those beyond are not read. */
  readonly maxEntries: number;
  /** Returns whether the document that redirects led to was already read under another name. */
  readonly isKnown: (finalUrl: string) => boolean;
}

const NO_SITEMAP: Readonly<Partial<Record<SitemapKind, string>>> = {
  html: 'is an HTML page, not a sitemap',
  empty: 'is empty',
  unknown: 'is not a sitemap, feed or list of URLs',
};

/**
 * One document, read as a sitemap. If it is cut off, its complete entries come first, then the problem. Entries that an earlier try of the
 * same document already gave are marked `again`, which is decided by their number.
 */
export class SitemapDocument {
  readonly #options: SitemapDocumentOptions;
  #position = 0;
  #furthest = 0;
  #result: DocumentResult = { kind: 'unread' };

  constructor(options: SitemapDocumentOptions) {
    this.#options = options;
  }

  /** The result, after {@link read}. */
  get result(): DocumentResult {
    return this.#result;
  }

  async *read(): AsyncGenerator<SeedEvent, void, void> {
    const { source, text, anyText, maxEntries, isKnown } = this.#options;
    let parser = new SitemapParser({ anyText });
    let cut: DocumentError | BodyError | undefined;
    yield { kind: 'reading', source };
    try {
      for await (const piece of text) {
        if (typeof piece === 'string') {
          yield* this.#sort(parser.write(piece));
          if (parser.isOver || this.#position >= maxEntries) break;
        } else {
          if (isKnown(piece.finalUrl)) {
            this.#result = { kind: 'known' };
            return;
          }
          parser = new SitemapParser({ anyText, url: piece.finalUrl });
          this.#position = 0;
        }
      }
    } catch (error: unknown) {
      if (!(error instanceof DocumentError || error instanceof BodyError)) throw error;
      cut = error;
    }
    const isFull = this.#position >= maxEntries;
    if (!isFull) yield* this.#sort(parser.end());
    const isEmptyList = parser.kind === 'text' && this.#position === 0 && cut === undefined;
    if (parser.isTable) this.#result = { kind: 'unknown', problem: NO_URL_COLUMN };
    else if (isEmptyList) this.#result = { kind: 'empty', problem: 'has no URLs' };
    else this.#result = resultOf(parser.kind, cut);
    if (this.#result.problem !== undefined) return;
    const { unexpanded } = parser;
    if (unexpanded > 0)
      yield {
        kind: 'problem',
        source,
        problem: `has ${unexpanded} URLs with entities that it declares itself, which are not expanded`,
      };
    if (isFull) yield { kind: 'problem', source, problem: `names more than ${maxEntries} URLs; the rest is not read` };
    else if (cut !== undefined) yield { kind: 'problem', source, problem: `${cut.message}; its end is missing` };
    else if (parser.truncated) yield { kind: 'problem', source, problem: 'is cut off; its end is missing' };
  }

  *#sort(entries: readonly SitemapEntry[]): Generator<SeedEvent, void, void> {
    const known = Math.min(entries.length, this.#furthest - this.#position);
    this.#position += entries.length;
    this.#furthest = Math.max(this.#furthest, this.#position);
    if (known > 0) yield { kind: 'entries', entries: entries.slice(0, known), again: true };
    if (known < entries.length) {
      yield { kind: 'entries', entries: known > 0 ? entries.slice(known) : entries, again: false };
    }
  }
}

function resultOf(kind: SitemapKind, cut: Error | undefined): DocumentResult {
  if (cut !== undefined && kind === 'empty') return { kind: 'unread', problem: cut.message };
  // Its kind would only have shown in the missing part.
  if (cut !== undefined && kind === 'unknown') return { kind, problem: cut.message };
  const problem = NO_SITEMAP[kind];
  return problem === undefined ? { kind } : { kind, problem };
}
