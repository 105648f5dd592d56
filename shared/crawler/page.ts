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

/** A larger body is read in steps, because other pages would have to wait too long. */
const LARGE_BODY_BYTES = 262_144;
/** What a page without an article calls its main part. */
const MAIN = 'main, [role=main]';
/** Characters read per step: some milliseconds. */
const TURN_LENGTH = 65_536;

/** What a record keeps of the body. */
export interface KeptContent extends Pick<DoneRecord, 'content' | 'contentOf' | 'article'> {
  /** Is there more on the page? */
  readonly isCut: boolean;
}

/**
 * A fetched page, as a crawler sees it. Each property is computed once, when it is first used; {@link PageTools} has the tools that take
 * it apart.
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

  /** A page for tests: from its HTML, or another body whose type `contentType` names. It was never fetched. */
  static fromHtml(html: string | Uint8Array, options?: MadePageOptions): Page {
    const { task, fetched } = madePage(html, options);
    return new Page(task, fetched);
  }

  constructor(task: Task, fetched: FetchedPage) {
    super();
    this.task = task;
    this.#fetched = fetched;
  }

  /** The same page for another task: a test says at which step, say. */
  at(task: Task): Page {
    return new Page(task, this.#fetched);
  }

  /** The answer that it is made of. */
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

  /** Names in lower case. */
  get headers(): Readonly<Record<string, string>> {
    return this.#fetched.headers;
  }

  /** The media type, without parameters, in lower case; undefined if the server didn't say. */
  override get contentType(): string | undefined {
    return mediaTypeOf(this.#fetched.headers['content-type']);
  }

  get body(): Uint8Array {
    return this.#fetched.body;
  }

  /** The body as text, decoded by its byte order mark, header or meta charset. */
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
   * The absolute links of an HTML page, each once. With a CSS selector, those of the elements that match, or of the elements inside
   * them; such links may be in `<link>` elements, too, and in XML.
   */
  links(css?: string): readonly string[] {
    return css === undefined ? this.#read().links : this.linksOf(css);
  }

  /**
   * A relative link as an absolute URL, as a browser follows it: from the page's `<base>`, with the query in the page's encoding. Undefined
   * if it can't be one, or if there is none: `page.resolve(page.attr('a.pdf', 'href'))`.
   */
  resolve(link: string | undefined): string | undefined {
    if (link === undefined) return undefined;
    const { href, encodeQuery } = this.base;
    return URL.parse(encodeQuery === undefined ? link : withQuery(link, encodeQuery), href)?.href;
  }

  /**
   * What a browser would send for a form that a selector finds, filled in with these fields, for `follow`: what is in the form already,
   * hidden fields included, and its first button, or the one that the fields name. Undefined if there is no such form.
   *
   * @throws Error if a field can't be filled in so
   */
  form(css: string, fields: FormFields = {}): FollowedRequest | undefined {
    return submissionOf(this, fields, css);
  }

  /** The canonical URL that the page names in its head or, if it has none there, in its `Link` header; undefined if there is none. */
  get canonical(): string | undefined {
    return this.#read().canonical ?? this.#inHeaders().canonical;
  }

  /** Where the page sends a browser that has read it (a `Refresh` header, or `<meta http-equiv=refresh>`); undefined if it doesn't. */
  get refresh(): string | undefined {
    return this.#inHeaders().refresh ?? this.#read().refresh ?? undefined;
  }

  /** The frames that a page consists of, if it is one of frames (`<frameset>`). */
  get frames(): readonly string[] {
    return this.#read().frames;
  }

  /** Which of title, links, canonical URL and the tree of the tools were cut, by the limits of `page-limits.ts`. */
  get truncated(): readonly PagePart[] {
    const { truncated } = this.#read();
    return this.isTreeCut ? [...truncated, 'tree'] : truncated;
  }

  /** `false` if the page asks, in its head, its headers or the link itself, that the link not be followed. */
  mayFollow(link: string): boolean {
    this.#isNofollow ??= this.#read().isNofollow || forbidsFollowing(this.headers['x-robots-tag'] ?? '');
    return !this.#isNofollow && !this.#read().nofollow.has(link);
  }

  /** Does a link lead to the next page of a list (`rel=next`)? */
  isNext(link: string): boolean {
    return this.#read().next.has(link) || this.#inHeaders().next.includes(link);
  }

  /** The next pages of the lists on this page, by `rel=next` of its links, of `<link>` and of its `Link` header. */
  get nextPages(): readonly string[] {
    const { next } = this.#inHeaders();
    return next.length === 0 ? [...this.#read().next] : [...this.#read().next.union(new Set(next))];
  }

  /** The credentials that a link was written with, which {@link links} leaves out; nothing if there were none. */
  loginOf(link: string): string | undefined {
    return this.#read().logins.get(link);
  }

  /** The text that a reader sees; the whole text if the page isn't HTML. */
  get readableText(): string {
    if (!isHtml(this.contentType)) return this.text;
    this.#readableText ??= readText(this.text, this.#isXml);
    return this.#readableText;
  }

  /** What a run keeps of it; the whole text if the page isn't HTML. A page without an article is kept as its `<main>`, or else whole. */
  contentAs(content: Exclude<RunOptions['content'], 'none'>): KeptContent {
    if (content === 'article') return this.#mainContent();
    if (content === 'html' || !isHtml(this.contentType)) return { content: this.text, isCut: false };
    if (content === 'text') return { content: this.readableText, isCut: false };
    return { content: this.markdown() ?? '', isCut: this.isMarkdownCut };
  }

  /** Should it be read ahead, because reading takes long? */
  get isLarge(): boolean {
    return this.body.byteLength > LARGE_BODY_BYTES;
  }

  /**
   * Reads title and links, and what the run keeps of the body, in steps between which other work is done. The getters then
   * answer at once. The body's text is kept only if the run keeps it.
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
    // Its strings are slices of the page's text, and each would keep all of that text in memory.
    this.#document = { ...structuredClone(document), base };
    if (content !== 'text') return;
    const reader = new TextReader(text, this.#isXml);
    do await setImmediate();
    while (!reader.read(TURN_LENGTH));
    this.#readableText = reader.text();
  }

  /** Where the tools have read the page first, it need not be read again. */
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
