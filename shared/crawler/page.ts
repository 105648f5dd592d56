import { setImmediate } from 'node:timers/promises';
import type { FetchedPage } from '../ports/fetcher.ts';
import { ARTICLE_FIELDS, type ArticleFacts, type DoneRecord } from '../ports/record.ts';
import type { RunOptions } from '../ports/runs.ts';
import { forbidsFollowing } from '../task/robots/robots-directives.ts';
import type { PagePart } from '../task/task/page-limits.ts';
import type { Task } from '../task/task/task.ts';
import { type LinkBase, type QueryEncoder, withQuery } from '../task/url/url.ts';
import type { Article } from './article/article.ts';
import { charsetOf, decodeBody, decodePieces } from './document/charset.ts';
import { DocumentReader, readDocument } from './document/document.ts';
import { type Document, NO_DOCUMENT } from './document/document-notes.ts';
import { type HeaderLinks, headerLinks } from './document/header-links.ts';
import { isHtml, isXhtml, mediaTypeOf } from './document/media-type.ts';
import { readText, TextReader } from './document/readable-text.ts';
import type { FollowedRequest } from './followed-request.ts';
import { type FormFields, submissionOf } from './forms/form.ts';
import { type MadePageOptions, madePage } from './made-page.ts';
import { queryEncoderOf } from './query-encoder.ts';
import { baseOfUrl, PageTools } from './tools/page-tools.ts';

/** Bodies larger than this are read in steps, so that other pages don't wait too long. */
const LARGE_BODY_BYTES = 262_144;
/** Selects the main part of a page without an article. */
const MAIN = 'main, [role=main]';
/** Characters read per step, which takes a few milliseconds. */
const TURN_LENGTH = 65_536;

/** The part of the body that a record keeps. */
export interface KeptContent extends Pick<DoneRecord, 'content' | 'contentOf' | 'article'> {
  /** Whether there is more on the page. */
  readonly isCut: boolean;
}

/**
 * A fetched page, as a crawler sees it. Each property is computed once, on first use. {@link PageTools} has the tools that extract data
 * from it.
 */
export class Page extends PageTools {
  readonly task: Task;
  readonly #fetched: FetchedPage;
  #text: string | undefined;
  #charset: string | undefined;
  #readableText: string | undefined;
  #document: Document | undefined;
  #headerLinks: HeaderLinks | undefined;
  #isNofollow: boolean | undefined;

  /** Makes a page for tests, without a fetch: from HTML, or from another body with its type in `contentType`. */
  static fromHtml(html: string | Uint8Array, options?: MadePageOptions): Page {
    const { task, fetched } = madePage(html, options);
    return new Page(task, fetched);
  }

  constructor(task: Task, fetched: FetchedPage) {
    super();
    this.task = task;
    this.#fetched = fetched;
  }

  /** Returns the same page for another task. A test sets the page's step this way. */
  at(task: Task): Page {
    return new Page(task, this.#fetched);
  }

  /** The answer that the page was made from. */
  get answer(): FetchedPage {
    return this.#fetched;
  }

  /** The page's URL, after redirects. */
  override get url(): string {
    return this.#fetched.finalUrl;
  }

  get status(): number {
    return this.#fetched.status;
  }

  /** The answer's headers, names in lower case, without cookies and those of the connection. */
  get headers(): Readonly<Record<string, string>> {
    return this.#fetched.headers;
  }

  /** The media type in lower case, without parameters; undefined if the server sent none. */
  override get contentType(): string | undefined {
    return mediaTypeOf(this.#fetched.headers['content-type']);
  }

  get body(): Uint8Array {
    return this.#fetched.body;
  }

  /** The body as text. Its encoding comes from the byte order mark, the header or the meta charset. */
  override get text(): string {
    if (this.#text === undefined) {
      const { text, charset } = decodeBody(this.#fetched.body, this.#fetched.headers['content-type']);
      [this.#text, this.#charset] = [text, charset];
    }
    return this.#text;
  }

  /** The text of `<title>`; undefined if there is none, or if the page isn't HTML. */
  get title(): string | undefined {
    return this.#read().title ?? undefined;
  }

  /**
   * Returns the absolute links of an HTML page, each once. With a CSS selector, returns the links of matching elements, or of the elements
   * inside them; this also finds links in `<link>` elements and in XML.
   */
  links(css?: string): readonly string[] {
    return css === undefined ? this.#read().links : this.linksOf(css);
  }

  /**
   * Makes a relative link absolute, as a browser would: against the page's `<base>`, with the query in the page's encoding. Returns
   * undefined for an invalid or missing link, so `page.resolve(page.attr('a.pdf', 'href'))` is safe.
   */
  resolve(link: string | undefined): string | undefined {
    if (link === undefined) return undefined;
    const { href, encodeQuery } = this.base;
    return URL.parse(encodeQuery === undefined ? link : withQuery(link, encodeQuery), href)?.href;
  }

  /**
   * Returns the request that a browser would send for a form, ready for `follow`: the form's own values, hidden fields included, replaced
   * by `fields` where given, and its first button or the one that `fields` names. Undefined if `css` finds no form.
   *
   * @throws Error if a field can't take the value given
   */
  form(css: string, fields: FormFields = {}): FollowedRequest | undefined {
    return submissionOf(this, fields, css);
  }

  /** The canonical URL from the page's head or, failing that, from its `Link` header; undefined if neither has one. */
  get canonical(): string | undefined {
    return this.#read().canonical ?? this.#inHeaders().canonical;
  }

  /** The URL that the page sends browsers on to (`Refresh` header, or `<meta http-equiv=refresh>`); undefined if it doesn't. */
  get refresh(): string | undefined {
    return this.#inHeaders().refresh ?? this.#read().refresh ?? undefined;
  }

  /** The URLs of the page's frames, if it is a `<frameset>`; otherwise empty. */
  get frames(): readonly string[] {
    return this.#read().frames;
  }

  /** Which of title, links, canonical URL and the tools' tree were cut by the limits of `page-limits.ts`. */
  get truncated(): readonly PagePart[] {
    const { truncated } = this.#read();
    return this.isTreeCut ? [...truncated, 'tree'] : truncated;
  }

  /** Returns `false` if the page asks, in its head, its headers or the link itself, not to follow a link. */
  mayFollow(link: string): boolean {
    this.#isNofollow ??= this.#read().isNofollow || forbidsFollowing(this.headers['x-robots-tag'] ?? '');
    return !this.#isNofollow && !this.#read().nofollow.has(link);
  }

  /** Returns whether a link leads to the next page of a list (`rel=next`). */
  isNext(link: string): boolean {
    return this.#read().next.has(link) || this.#inHeaders().next.includes(link);
  }

  /** The next pages of the lists on this page: the `rel=next` of its links, its `<link>` elements and its `Link` header. */
  get nextPages(): readonly string[] {
    const { next } = this.#inHeaders();
    return next.length === 0 ? [...this.#read().next] : [...this.#read().next.union(new Set(next))];
  }

  /** Returns the credentials written in a link, which {@link links} leaves out; undefined if there were none. */
  loginOf(link: string): string | undefined {
    return this.#read().logins.get(link);
  }

  /** The text that a human reader sees; the whole text if the page isn't HTML. */
  get readableText(): string {
    if (!isHtml(this.contentType)) return this.text;
    this.#readableText ??= readText(this.text, this.#isXml);
    return this.#readableText;
  }

  /**
   * Returns the content that a run keeps of the page; the whole text if it isn't HTML. For `article`, a page without one is kept as its
   * `<main>`, or whole without that either.
   */
  contentAs(content: Exclude<RunOptions['content'], 'none'>): KeptContent {
    if (content === 'article') return this.#mainContent();
    if (content === 'html' || !isHtml(this.contentType)) return { content: this.text, isCut: false };
    if (content === 'text') return { content: this.readableText, isCut: false };
    return { content: this.markdown() ?? '', isCut: this.isMarkdownCut };
  }

  /** Whether the page takes so long to read that {@link readAhead} should do it in steps. */
  get isLarge(): boolean {
    return this.body.byteLength > LARGE_BODY_BYTES;
  }

  /**
   * Reads title, links and the content that the run keeps, in steps between which other work can run. The getters then return at once.
   * The body's text is kept only if the run needs it.
   */
  async readAhead(content: RunOptions['content']): Promise<void> {
    const isPage = isHtml(this.contentType);
    if (!isPage && content === 'none') return;
    let text = '';
    this.#charset = charsetOf(this.body, this.headers['content-type']);
    for (const piece of decodePieces(this.body, this.#charset)) {
      text += piece;
      await setImmediate();
    }
    if ((content !== 'none' && content !== 'text') || !isPage) this.#text = text;
    if (!isPage) return;
    const reading = new DocumentReader(text, this.url, this.#isXml, this.encodeQuery);
    while (!reading.read(TURN_LENGTH)) await setImmediate();
    const { base, ...document } = reading.document();
    // The strings are slices of the page's text, and each would keep the whole text in memory.
    this.#document = { ...structuredClone(document), base };
    if (content !== 'text') return;
    const reader = new TextReader(text, this.#isXml);
    do await setImmediate();
    while (!reader.read(TURN_LENGTH));
    this.#readableText = reader.text();
  }

  /** Takes the document that the tools found while parsing, so that the page isn't read again. */
  protected override noteDocument(document: Document): void {
    this.#document ??= document;
  }

  protected override get base(): LinkBase {
    return this.#read().base ?? baseOfUrl(this.url);
  }

  protected override get encodeQuery(): QueryEncoder | undefined {
    return this.#charset === undefined ? undefined : queryEncoderOf(this.#charset);
  }

  #mainContent(): KeptContent {
    if (!isHtml(this.contentType)) return { contentOf: 'page', content: this.text, isCut: false };
    const { article } = this;
    if (article !== undefined && article.markdown !== '')
      return { contentOf: 'article', article: factsOf(article), content: article.markdown, isCut: this.isMarkdownCut };
    const main = this.markdown(MAIN) ?? '';
    const content = main === '' ? (this.markdown() ?? '') : main;
    return { contentOf: main === '' ? 'page' : 'main', content, isCut: this.isMarkdownCut };
  }

  get #isXml(): boolean {
    return isXhtml(this.contentType);
  }

  #read(): Document {
    this.#document ??= isHtml(this.contentType) ? this.#readNow() : NO_DOCUMENT;
    return this.#document;
  }

  #inHeaders(): HeaderLinks {
    this.#headerLinks ??= headerLinks(this.headers, this.url);
    return this.#headerLinks;
  }

  #readNow(): Document {
    const { text } = this;
    return readDocument(text, this.url, this.#isXml, this.encodeQuery);
  }
}

function factsOf(article: Article): ArticleFacts {
  return Object.fromEntries(
    ARTICLE_FIELDS.flatMap((field) => (article[field] === undefined ? [] : [[field, article[field]]])),
  );
}
