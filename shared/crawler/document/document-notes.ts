import { decodeHTML, decodeHTMLAttribute } from 'entities';
import { beginning } from '../../task/beginning.ts';
import { forbidsFollowing, isRobotsMeta } from '../../task/robots/robots-directives.ts';
import {
  MAX_ATTRIBUTE_LENGTH,
  MAX_BASE_LENGTH,
  MAX_LINK_LENGTH,
  MAX_LINKS,
  MAX_LINKS_LENGTH,
  MAX_TITLE_LENGTH,
  PAGE_PARTS,
  type PagePart,
} from '../../task/task/page-limits.ts';
import { type LinkBase, linkBase, type QueryEncoder, resolveLink, resolveUrl } from '../../task/url/url.ts';
import { A, META, TITLE } from '../html/tag-codes.ts';
import { tagCode } from '../html/tags.ts';
import type { HtmlTokenizer } from '../html/tokenizer.ts';
import { hasOtherScheme, hasWord, linkWritten, withoutFragment } from '../link-written.ts';
import { refreshTarget } from './meta-refresh.ts';

/** The findings of one pass over a page. */
export interface Document {
  /** The text of the first `<title>`, white space folded; null if there is none. */
  readonly title: string | null;
  /** The links of `<a>` and `<area>`: absolute, without fragments, each once, in document order. */
  readonly links: readonly string[];
  /** The links that have `rel=nofollow` at every occurrence. */
  readonly nofollow: ReadonlySet<string>;
  /** The `rel=next` links of `<a>`, `<area>` and `<link>`, which lead to the next page of a list. */
  readonly next: ReadonlySet<string>;
  /** By link, the credentials in front of its host, from its first occurrence. */
  readonly logins: ReadonlyMap<string, string>;
  /** Whether a `<meta name=robots>` asks not to follow any link. */
  readonly isNofollow: boolean;
  /** The absolute URL of the first `<link rel=canonical>`; null if there is none. */
  readonly canonical: string | null;
  /** The absolute URL of the first `<meta http-equiv=refresh>` that names one; null if there is none, or if it is the page's own. */
  readonly refresh: string | null;
  /** The absolute URLs of the frames of a `<frameset>`, a page without links of its own. */
  readonly frames: readonly string[];
  /** The base of links, from `<base>` or the page's URL; undefined if the page isn't HTML. */
  readonly base: LinkBase | undefined;
  /** The parts that were cut, by the limits of `page-limits.ts`. */
  readonly truncated: readonly PagePart[];
}

/** An empty document. */
export const NO_DOCUMENT: Document = {
  title: null,
  links: [],
  nofollow: new Set(),
  next: new Set(),
  logins: new Map(),
  isNofollow: false,
  canonical: null,
  refresh: null,
  frames: [],
  base: undefined,
  truncated: [],
};

/** The place of an element. */
export interface NotedPlace {
  /** `false` for an element of SVG or MathML. */
  readonly isHtml: boolean;
  readonly isInTemplate: boolean;
  /** Whether it is inside a template whose content isn't part of the page. */
  readonly isInert: boolean;
}

const AREA = tagCode('area');
const BASE = tagCode('base');
const FRAME = tagCode('frame');
const LINK = tagCode('link');

/** Characters read of a title's source, which white space and entities make longer than the title itself. */
const MAX_WRITTEN_TITLE_LENGTH = 16 * MAX_TITLE_LENGTH;
/** Candidates kept for the canonical URL. The first one that resolves is used. */
const MAX_CANONICALS = 10;
/** Links kept as the next page of a list. A page of comments, say, has several lists. */
const MAX_NEXTS = 10;
const MAX_FRAMES = 100;

/** The value of an attribute: undefined if it is missing, null if it is too long to be read. */
type Value = string | null | undefined;

/** Collects a page's title and links from its tags, in document order. */
export class DocumentNotes {
  readonly #html: string;
  readonly #url: string;
  readonly #tokenizer: HtmlTokenizer;
  readonly #encodeQuery: QueryEncoder | undefined;
  /** Links as written, because a `<base>` may still follow. The value says whether every occurrence has `nofollow`. */
  readonly #hrefs = new Map<string, boolean>();
  readonly #canonicals: string[] = [];
  /** As written, like the links. */
  readonly #nexts = new Set<string>();
  readonly #frames = new Set<string>();
  readonly #truncated = new Set<PagePart>();
  #base: Value;
  #isNofollow = false;
  #title: string | undefined;
  /** As written. */
  #refresh: string | undefined;
  /** Attributes of the element just read. The first of two with the same name counts. */
  #href: Value;
  #xlinkHref: Value;
  #src: Value;
  #rel: Value;
  #name: Value;
  #content: Value;
  #httpEquiv: Value;

  /**
   * @param url the page's URL, after redirects
   * @param tokenizer the tokenizer of `html`
   * @param encodeQuery writes the queries of links, for a page that isn't in UTF-8
   */
  constructor(html: string, url: string, tokenizer: HtmlTokenizer, encodeQuery?: QueryEncoder) {
    this.#html = html;
    this.#url = url;
    this.#tokenizer = tokenizer;
    this.#encodeQuery = encodeQuery;
  }

  /** Notes the element whose start tag was just read. Returns `true` if the text that follows is the page's title. */
  element({ isHtml, isInTemplate, isInert }: NotedPlace): boolean {
    const { code } = this.#tokenizer;
    if (code === A || (code === AREA && isHtml)) {
      if (!isInert) this.#readLink(isHtml);
    } else if (isHtml && !isInTemplate) {
      switch (code) {
        case LINK:
          this.#readAttributes();
          if (this.#href !== undefined && hasWord(this.#rel, 'canonical')) this.#addCanonical(this.#href);
          this.#noteNext(typeof this.#href === 'string' ? linkWritten(this.#href) : undefined);
          break;
        case META:
          this.#readAttributes();
          if (isRobotsMeta(this.#name ?? '') && forbidsFollowing(this.#content ?? '')) this.#isNofollow = true;
          if (this.#httpEquiv?.toLowerCase() === 'refresh') this.#refresh ??= refreshTarget(this.#content ?? '');
          break;
        case BASE:
          this.#readAttributes();
          if (this.#base === undefined) this.#base = this.#href;
          break;
        case TITLE:
          if (this.#title !== undefined) break;
          this.#title = '';
          return true;
      }
    }
    return false;
  }

  /** Notes the element whose start tag was just read in a `<frameset>`. */
  inFrameset(): void {
    if (this.#tokenizer.code !== FRAME || this.#frames.size === MAX_FRAMES) return;
    this.#readAttributes();
    const src = typeof this.#src === 'string' ? linkWritten(this.#src) : undefined;
    if (src !== undefined) this.#frames.add(src);
  }

  /** Notes the text of the title, from its position up to `end`. */
  title(start: number, end: number): void {
    if (end - start > MAX_WRITTEN_TITLE_LENGTH) this.#truncated.add('title');
    this.#title = this.#html.slice(start, Math.min(end, start + MAX_WRITTEN_TITLE_LENGTH));
  }

  /** Returns the findings so far. */
  document(): Document {
    const base = this.#linkBase();
    return {
      title: this.#foldedTitle(),
      ...this.#links(base),
      next: new Set(resolved(this.#nexts, base)),
      isNofollow: this.#isNofollow,
      canonical: this.#canonical(base),
      refresh: this.#refreshed(base),
      frames: resolved(this.#frames, base).filter(({ length }) => length <= MAX_LINK_LENGTH),
      base,
      truncated: PAGE_PARTS.filter((part) => this.#truncated.has(part)),
    };
  }

  #readLink(isHtml: boolean): void {
    // The list is full: all further links are cut.
    if (this.#hrefs.size === MAX_LINKS && this.#truncated.has('links')) return;
    this.#readAttributes();
    const written = this.#href === undefined && !isHtml ? this.#xlinkHref : this.#href;
    if (written === undefined) return;
    const href = written === null ? null : linkWritten(written);
    if (href === undefined) return;
    const known = href === null ? undefined : this.#hrefs.get(href);
    if (href === null || (known === undefined && this.#hrefs.size === MAX_LINKS)) this.#truncated.add('links');
    else {
      this.#hrefs.set(href, known !== false && hasWord(this.#rel, 'nofollow'));
      this.#noteNext(href);
    }
  }

  #noteNext(href: string | undefined): void {
    if (href !== undefined && this.#nexts.size < MAX_NEXTS && hasWord(this.#rel, 'next')) this.#nexts.add(href);
  }

  #addCanonical(href: string | null): void {
    if (href === null) this.#truncated.add('canonical');
    else if (this.#canonicals.length < MAX_CANONICALS && !BLANK.test(href)) this.#canonicals.push(href);
  }

  #readAttributes(): void {
    const tokenizer = this.#tokenizer;
    this.#href = undefined;
    this.#xlinkHref = undefined;
    this.#src = undefined;
    this.#rel = undefined;
    this.#name = undefined;
    this.#content = undefined;
    this.#httpEquiv = undefined;
    while (tokenizer.nextAttribute()) {
      const { attributeStart: start, attributeEnd: end } = tokenizer;
      const length = end - start;
      if (length !== 4 && length !== 3 && length !== 7 && length !== 10) continue;
      // Most names are `href` in lower case, so that one is compared without making a string.
      const isHref = length === 4 && this.#html.startsWith('href', start);
      switch (isHref ? 'href' : this.#html.slice(start, end).toLowerCase()) {
        case 'href':
          if (this.#href === undefined) this.#href = this.#value();
          break;
        case 'rel':
          if (this.#rel === undefined) this.#rel = this.#value();
          break;
        case 'src':
          if (this.#src === undefined) this.#src = this.#value();
          break;
        case 'name':
          if (this.#name === undefined) this.#name = this.#value();
          break;
        case 'content':
          if (this.#content === undefined) this.#content = this.#value();
          break;
        case 'http-equiv':
          if (this.#httpEquiv === undefined) this.#httpEquiv = this.#value();
          break;
        case 'xlink:href':
          if (this.#xlinkHref === undefined) this.#xlinkHref = this.#value();
      }
    }
  }

  /** The value of the attribute just read. */
  #value(): string | null {
    const { valueStart, valueEnd } = this.#tokenizer;
    if (valueEnd - valueStart > MAX_ATTRIBUTE_LENGTH) {
      const scheme = withoutFragment(this.#html.slice(valueStart, valueStart + 100));
      // A long `data:` URL, such as a picture, isn't a link: nothing is lost.
      return hasOtherScheme(scheme) ? scheme : null;
    }
    const written = this.#html.slice(valueStart, valueEnd);
    const value = written.includes('\0') ? written.replaceAll('\0', '\ufffd') : written;
    return value.includes('&') ? decodeHTMLAttribute(value) : value;
  }

  /** The URL of the first `<base>` if links can be relative to it, else the page's own URL. */
  #linkBase(): LinkBase {
    const base = typeof this.#base === 'string' ? URL.parse(this.#base, this.#url) : null;
    const isUsable =
      base !== null &&
      (base.protocol === 'http:' || base.protocol === 'https:') &&
      base.username === '' &&
      base.password === '' &&
      base.href.length <= MAX_BASE_LENGTH;
    return linkBase(isUsable ? base.href : this.#url, this.#encodeQuery);
  }

  #links(base: LinkBase): Pick<Document, 'links' | 'nofollow' | 'logins'> {
    const links = new Set<string>();
    const nofollow = new Set<string>();
    const logins = new Map<string, string>();
    let length = 0;
    for (const [href, isNofollow] of this.#hrefs) {
      const link = resolveLink(href, base);
      if (link === undefined) continue;
      if (links.has(link)) {
        // One occurrence without it is enough to follow the link.
        if (!isNofollow) nofollow.delete(link);
      } else if (link.length > MAX_LINK_LENGTH) {
        this.#truncated.add('links');
      } else if (length + link.length > MAX_LINKS_LENGTH) {
        this.#truncated.add('links');
        break;
      } else {
        length += link.length;
        links.add(link);
        if (isNofollow) nofollow.add(link);
        const login = href.includes('@') ? resolveUrl(href, base)?.login : undefined;
        if (login !== undefined) logins.set(link, login);
      }
    }
    return { links: [...links], nofollow, logins };
  }

  #canonical(base: LinkBase): string | null {
    for (const href of this.#canonicals) {
      const canonical = resolveLink(href, base);
      if (canonical === undefined) continue;
      if (canonical.length <= MAX_LINK_LENGTH) return canonical;
      this.#truncated.add('canonical');
    }
    return null;
  }

  /** Returns the URL of the refresh; null if there is none, or if it only reloads the page. */
  #refreshed(base: LinkBase): string | null {
    const href = this.#refresh === undefined ? undefined : linkWritten(this.#refresh);
    const url = href === undefined ? undefined : resolveLink(href, base);
    return url === undefined || url.length > MAX_LINK_LENGTH || url === this.#url ? null : url;
  }

  #foldedTitle(): string | null {
    if (this.#title === undefined) return null;
    const written = this.#title.includes('\0') ? this.#title.replaceAll('\0', '\ufffd') : this.#title;
    const title = (written.includes('&') ? decodeHTML(written) : written)
      .replaceAll(/[\t\n\f\r ]+/g, ' ')
      .replace(/^ | $/g, '');
    if (title.length <= MAX_TITLE_LENGTH) return title === '' ? null : title;
    this.#truncated.add('title');
    return beginning(title, MAX_TITLE_LENGTH);
  }
}

function resolved(hrefs: ReadonlySet<string>, base: LinkBase): string[] {
  return [...hrefs].flatMap((href) => resolveLink(href, base) ?? []);
}

/** Only characters that the URL Standard strips. */
const BLANK = /^[\0-\x20]*$/;
