import type { LinkBase } from '../url/url.ts';
import { MAX_LOC_LENGTH, type SitemapEntry, type SitemapKind } from './sitemap-entry.ts';
import { locationBase, resolveLocation } from './sitemap-location.ts';

/** Maximum characters read of a JSON Feed, which is held in memory as a whole. */
const MAX_LENGTH = 8 * 1024 ** 2;
/** Maximum items read of a feed, since all are resolved in one go. */
const MOST_ITEMS = 10_000;
const VERSION = /^https?:\/\/(?:www\.)?jsonfeed\.org\/version\//i;

/**
 * Reads a JSON Feed; if it is cut off, its complete items. The URL of an item is the first of: `url`, `external_url`, an `id` that
 * is a URL. Any other JSON is of unknown kind. Source: https://www.jsonfeed.org/version/1.1/
 */
export class JsonFeed {
  readonly #url: string | undefined;
  #text = '';
  #kind: SitemapKind = 'unknown';
  #isOver = false;
  #isCut = false;

  /** @param url of the document, after redirects; nothing for a file */
  constructor(url?: string) {
    this.#url = url;
  }

  /** The kind of the document, known after {@link end}. */
  get kind(): SitemapKind {
    return this.#kind;
  }

  /** Is the document too long? Then nothing more is read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** After {@link end}: is the document cut off, too long, or does it have more items than are read? */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Takes a chunk. Returns no entries: they come at the end. */
  write(chunk: string): readonly SitemapEntry[] {
    if (!this.#isOver) this.#text += chunk;
    this.#isOver ||= this.#text.length > MAX_LENGTH;
    return [];
  }

  end(): readonly SitemapEntry[] {
    const text = this.#text.slice(0, MAX_LENGTH);
    this.#text = '';
    const whole = parsed(text);
    const { version, items } = fieldsOf(whole ?? parsed(untilLastItem(text)));
    if (typeof version !== 'string' || !VERSION.test(version)) return [];
    this.#kind = 'feed';
    this.#isCut = whole === undefined;
    if (!Array.isArray(items)) return [];
    this.#isCut ||= items.length > MOST_ITEMS;
    const base = this.#url === undefined ? undefined : locationBase(this.#url);
    return items.slice(0, MOST_ITEMS).flatMap((item) => entryOf(fieldsOf(item), base));
  }
}

function entryOf(
  { url, external_url, id, date_modified, date_published }: Fields,
  base: LinkBase | undefined,
): readonly SitemapEntry[] {
  const named = [url, external_url].find(isText) ?? (isText(id) && /^https?:\/\//i.test(id) ? id : undefined);
  if (named === undefined) return [];
  const loc = resolveLocation(named.trim().slice(0, MAX_LOC_LENGTH + 1), base);
  return [{ loc, lastmod: [date_modified, date_published].find(isText), to: 'page' }];
}

type Fields = Readonly<Record<string, unknown>>;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Cuts a truncated object after the last complete object in a list that is one of its fields, and closes both. */
function untilLastItem(text: string): string {
  let [depth, end, isInText, isInList] = [0, 0, false, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isInText) {
      if (character === '\\') at++;
      else isInText = character !== '"';
    } else if (character === '"') isInText = true;
    else if (character === '{' || character === '[') {
      depth++;
      if (depth === 2) isInList = character === '[';
    } else if (character === '}' || character === ']') {
      depth--;
      if (depth === 2 && isInList && character === '}') end = at + 1;
    }
  }
  return `${text.slice(0, end)}]}`;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
