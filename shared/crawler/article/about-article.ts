import { MAX_TITLE_LENGTH } from '../../task/task/page-limits.ts';
import type { NodeHandle } from '../tools/node-handle.ts';
import { folded } from '../tools/text.ts';
import { hasType, type JsonLdObject, jsonLdIn } from '../tools/written/structured-data.ts';

/** What a page says of its article: in JSON-LD, in its head, or on it. */
export interface AboutArticle {
  readonly title: string | undefined;
  /** The heading that shows the title. */
  readonly heading: NodeHandle | undefined;
  readonly byline: string | undefined;
  readonly published: string | undefined;
  readonly language: string | undefined;
  readonly excerpt: string | undefined;
}

/** Types of JSON-LD objects that are about an article, in the order in which they are believed. */
const TYPES: readonly string[] = [
  ...['NewsArticle', 'BlogPosting', 'Article', 'TechArticle', 'ReportageNewsArticle', 'AnalysisNewsArticle'],
  ...['OpinionNewsArticle', 'ScholarlyArticle', 'APIReference', 'DiscussionForumPosting', 'Report', 'WebPage'],
];
const TITLES: readonly string[] = ['og:title', 'twitter:title', 'dc.title', 'citation_title'];
const AUTHORS: readonly string[] = [
  ...['author', 'article:author', 'dc.creator', 'dcterms.creator', 'parsely-author', 'sailthru.author'],
  ...['byl', 'citation_author'],
];
const DATES: readonly string[] = [
  ...['article:published_time', 'datepublished', 'og:published_time', 'dc.date.issued', 'dcterms.issued'],
  ...['dcterms.created', 'dc.date', 'dcterms.date', 'parsely-pub-date', 'sailthru.date', 'citation_publication_date'],
  ...['citation_date', 'pubdate', 'publishdate', 'publish-date', 'publication_date', 'date'],
];
const EXCERPTS: readonly string[] = ['og:description', 'description', 'twitter:description', 'dc.description'];
/** Where a page shows who wrote it. */
const SHOWN_AUTHORS: readonly string[] = ['[rel~=author]', '[itemprop~=author]', '.byline', '.author'];
/** What stands between a title and the name of its site: three characters. */
const SEPARATOR = / [|–—»·•/-] /g;
/** Places in a title where the name of a site may begin that are looked at. */
const MOST_PARTS = 10;
/** Words that the name of a site has at most. */
const MOST_WORDS = 5;
/** Characters of a name, a date or a language. A longer one is something else. */
const LONGEST_NAME = 150;
/** How much white space and markup a text may have more than it says. */
const MOST_BLANK = 8;

export function aboutArticle(page: NodeHandle): AboutArticle {
  const head = new Head(page);
  const objects = jsonLdIn(page);
  const object = TYPES.map((type) => objects.find((each) => hasType(each, type))).find((each) => each !== undefined);
  return {
    ...titleOf(page, head, object),
    byline: bylineOf(page, head, object),
    published: publishedOf(page, head, object),
    language: languageOf(page, head, object),
    excerpt: head.first(EXCERPTS, MAX_TITLE_LENGTH) ?? said(object?.description, MAX_TITLE_LENGTH),
  };
}

/** What a page's `<meta>` elements say, by their names; of two, the first counts. */
class Head {
  readonly #said = new Map<string, string>();

  constructor(page: NodeHandle) {
    for (const meta of page.named('meta')) {
      const content = meta.attribute('content');
      for (const by of ['name', 'property', 'itemprop', 'http-equiv']) {
        const name = meta.attribute(by)?.trim().toLowerCase();
        if (name !== undefined && content !== undefined && !this.#said.has(name)) this.#said.set(name, content);
      }
    }
  }

  /** The first of these that is there, and no longer than this. */
  first(names: readonly string[], longest: number, isOne = (_: string): boolean => true): string | undefined {
    for (const name of names) {
      const text = short(this.#said.get(name), longest);
      if (text !== undefined && isOne(text)) return text;
    }
    return undefined;
  }
}

/** The longest `<h1>` that shows a title of the page, or a part of one, beside the name of the site say; or else such a title. */
function titleOf(
  page: NodeHandle,
  head: Head,
  object: JsonLdObject | undefined,
): Pick<AboutArticle, 'title' | 'heading'> {
  const site = head.first(['og:site_name'], MAX_TITLE_LENGTH) ?? '';
  const titles = [
    said(object?.headline, MAX_TITLE_LENGTH),
    head.first(TITLES, MAX_TITLE_LENGTH),
    short(page.first('title')?.text, MAX_TITLE_LENGTH),
  ].filter((title) => title !== undefined);
  const parts = new Set(
    titles.flatMap((title) => [title, ...partsOf(title).flat(), ...title.split(SEPARATOR, MOST_PARTS)]).map(lettersOf),
  );
  for (const none of ['', lettersOf(site)]) parts.delete(none);
  const known = [...parts];
  let found: NodeHandle | undefined;
  let title = '';
  for (const heading of page.named('h1')) {
    // Behind it may be the sign by which readers copy its link.
    const text = short(heading.text, MAX_TITLE_LENGTH)?.replace(/ ?[¶#§]$/, '') ?? '';
    const letters = lettersOf(text);
    // It may show more, such as a version.
    const isKnown = known.some((part) => letters.startsWith(part) && letters.length <= 2 * part.length);
    if (text.length > title.length && isKnown) [found, title] = [heading, text];
  }
  if (found !== undefined) return { title, heading: found };
  const [first] = titles;
  if (first === undefined) return { title: undefined, heading: undefined };
  const [name, tail] = partsOf(first).at(-1) ?? [first, ''];
  // What is written for others to show has the site's name seldom, and browsers' tabs nearly always.
  const isTab = titles.length === 1 && tail.split(' ').length <= MOST_WORDS;
  return { title: isTab || lettersOf(tail) === lettersOf(site) ? name : first, heading: undefined };
}

/** A title's first and last part, for each place where the name of the site may begin or end. */
function partsOf(title: string): readonly (readonly [string, string])[] {
  const places = title.matchAll(SEPARATOR).take(MOST_PARTS);
  return [...places].map(({ index }) => [title.slice(0, index), title.slice(index + ' | '.length)] as const);
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}

function bylineOf(page: NodeHandle, head: Head, object: JsonLdObject | undefined): string | undefined {
  const names = [object?.author].flat().map((author: unknown) => {
    const name = typeof author === 'object' && author !== null && 'name' in author ? author.name : author;
    return said(Array.isArray(name) ? name[0] : name, LONGEST_NAME);
  });
  const written = short(names.filter((name) => name !== undefined && isName(name)).join(', '), LONGEST_NAME);
  const shown = (): string | undefined =>
    SHOWN_AUTHORS.map((css) => short(page.first(css)?.text, LONGEST_NAME)).find((text) => text !== undefined);
  const byline = written ?? head.first(AUTHORS, LONGEST_NAME, isName) ?? shown();
  return byline?.replace(/^by:? /i, '');
}

function isName(text: string): boolean {
  return !/^https?:/i.test(text);
}

function publishedOf(page: NodeHandle, head: Head, object: JsonLdObject | undefined): string | undefined {
  const marked = page.first('[itemprop~=datePublished]');
  return (
    said(object?.datePublished, LONGEST_NAME) ??
    head.first(DATES, LONGEST_NAME) ??
    short(marked?.attribute('datetime') ?? marked?.text, LONGEST_NAME) ??
    short(page.first('time[datetime]')?.attribute('datetime'), LONGEST_NAME)
  );
}

function languageOf(page: NodeHandle, head: Head, object: JsonLdObject | undefined): string | undefined {
  const html = page.first('html');
  return (
    short(html?.attribute('lang') ?? html?.attribute('xml:lang'), LONGEST_NAME) ??
    head.first(['content-language', 'dc.language'], LONGEST_NAME) ??
    said(object?.inLanguage, LONGEST_NAME) ??
    head.first(['og:locale'], LONGEST_NAME)?.replace('_', '-')
  );
}

function said(value: unknown, longest: number): string | undefined {
  return typeof value === 'string' ? short(value, longest) : undefined;
}

/** A text, white space folded, that isn't empty and no longer than this. */
function short(text: string | undefined, longest: number): string | undefined {
  if (text === undefined || text.length > MOST_BLANK * longest) return undefined;
  const short = folded(text);
  return short === '' || short.length > longest ? undefined : short;
}
