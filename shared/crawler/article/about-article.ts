import { MAX_TITLE_LENGTH } from '../../task/task/page-limits.ts';
import type { NodeHandle } from '../tools/node-handle.ts';
import { folded } from '../tools/text.ts';
import { hasType, type JsonLdObject, jsonLdIn } from '../tools/written/structured-data.ts';

/** A page's metadata about its article: from JSON-LD, its head or its content. */
export interface AboutArticle {
  readonly title: string | undefined;
  /** The heading that shows the title. */
  readonly heading: NodeHandle | undefined;
  readonly byline: string | undefined;
  readonly published: string | undefined;
  readonly language: string | undefined;
  readonly excerpt: string | undefined;
}

/** Types of JSON-LD objects that describe an article, the most trusted first. */
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
/** Places where a page shows its author. */
const SHOWN_AUTHORS: readonly string[] = ['[rel~=author]', '[itemprop~=author]', '.byline', '.author'];
/** The three characters between a title and the name of its site. */
const SEPARATOR = / [|–—»·•/-] /g;
/** Maximum places in a title that are checked for the name of the site. */
const MOST_PARTS = 10;
/** Maximum words in the name of a site. */
const MOST_WORDS = 5;
/** Maximum characters of a name, a date or a language. A longer one is something else. */
const LONGEST_NAME = 150;
/** How many times longer than its limit a text can be before white space is folded. */
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

/** The content of a page's `<meta>` elements by name. The first of two with the same name counts. */
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

  /** Returns the first of these that exists, isn't too long and passes `isOne`. */
  first(names: readonly string[], longest: number, isOne = (_: string): boolean => true): string | undefined {
    for (const name of names) {
      const text = short(this.#said.get(name), longest);
      if (text !== undefined && isOne(text)) return text;
    }
    return undefined;
  }
}

/** Returns the longest `<h1>` that shows one of the page's titles, or a part such as the title without the site's name; or else a title. */
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
    // The heading may end in the sign with which readers copy its link.
    const text = short(heading.text, MAX_TITLE_LENGTH)?.replace(/ ?[¶#§]$/, '') ?? '';
    const letters = lettersOf(text);
    // The heading may show more, such as a version.
    const isKnown = known.some((part) => letters.startsWith(part) && letters.length <= 2 * part.length);
    if (text.length > title.length && isKnown) [found, title] = [heading, text];
  }
  if (found !== undefined) return { title, heading: found };
  const [first] = titles;
  if (first === undefined) return { title: undefined, heading: undefined };
  const [name, tail] = partsOf(first).at(-1) ?? [first, ''];
  // Titles for sharing seldom contain the site's name; the `<title>`, shown in browser tabs, nearly always does.
  const isTab = titles.length === 1 && tail.split(' ').length <= MOST_WORDS;
  return { title: isTab || lettersOf(tail) === lettersOf(site) ? name : first, heading: undefined };
}

/** Returns the parts before and after each place in a title where the name of the site may begin or end. */
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

/** Returns a text with white space folded; undefined if it is empty or longer than `longest`. */
function short(text: string | undefined, longest: number): string | undefined {
  if (text === undefined || text.length > MOST_BLANK * longest) return undefined;
  const short = folded(text);
  return short === '' || short.length > longest ? undefined : short;
}
