import { type LinkBase, linkBase, type QueryEncoder } from '../../task/url/url.ts';
import { type Article, articleIn } from '../article/article.ts';
import type { Document } from '../document/document-notes.ts';
import { isHtml, isXhtml, isXml } from '../document/media-type.ts';
import { matchAllIn, matchIn } from './matching.ts';
import type { NumberOptions } from './numbers.ts';
import { Selection, type TableOptions } from './selection.ts';
import type { TableRow } from './table.ts';
import { htmlFragment, htmlTree, type Tree, xhtmlTree, xmlTree } from './tree.ts';
import { microdataIn } from './written/microdata.ts';
import { hasType, type JsonLdObject, jsonLdIn, metaIn, openGraphIn } from './written/structured-data.ts';
import { variableIn } from './written/variables.ts';
import { atPath, bodyJson } from './written/written-json.ts';

/**
 * What takes a page apart. Nothing is read before a tool is used, and then once for all tools; what is missing is undefined, or an
 * empty list. Only an invalid selector or XPath throws, with an Error that names it.
 *
 * An HTML page is read as a browser reads it, XML by its own rules (names as written). A page of any other type has no elements.
 */
export abstract class PageTools {
  #tree: Tree | undefined;
  #top: Selection | undefined;
  #xml: Tree | undefined;
  #json: { readonly value: unknown } | undefined;
  #article: { readonly found: Article | undefined } | undefined;
  /** Of what was forgotten. */
  #wasCut = false;
  #isMarkdownCut = false;
  readonly #onCut = (): void => {
    this.#isMarkdownCut = true;
  };

  /** The page's URL, after redirects. */
  abstract get url(): string;
  /** The media type, without parameters, in lower case; undefined if the server didn't say. */
  abstract get contentType(): string | undefined;
  /** The body as text. */
  abstract get text(): string;
  /** What links are relative to. */
  protected abstract get base(): LinkBase;
  /** Known once the text is; nothing for a page in UTF-8. */
  protected abstract get encodeQuery(): QueryEncoder | undefined;

  /** The text of the first element that a CSS selector matches, white space folded and trimmed; undefined if none does. */
  get(css: string): string | undefined {
    return this.#page.get(css);
  }

  /** The first element that matches, with these tools. */
  first(css: string): Selection | undefined {
    return this.#page.first(css);
  }

  /** All elements that match, in the order of the page, each with these tools. */
  all(css: string): readonly Selection[] {
    return this.#page.all(css);
  }

  /** An attribute of the first element that matches, as written. */
  attr(css: string, name: string): string | undefined {
    return this.#page.attr(css, name);
  }

  /** The first number in the text of the first element that matches: 1299 of `1.299,00 €`. `docs/crawlers.md` has the rules. */
  number(css: string, options?: NumberOptions): number | undefined {
    return this.#page.number(css, options);
  }

  /**
   * The first table, or the first that matches or is in what matches, as objects by the texts of its header; by number of column, from
   * 0, if it has none. With `{ header: false }`, all of its rows as lists of texts.
   */
  table(css?: string): readonly TableRow[] | undefined;
  table(css: string | undefined, options: TableOptions): readonly (readonly string[])[] | undefined;
  table(css?: string, options?: TableOptions): readonly TableRow[] | readonly (readonly string[])[] | undefined {
    return options === undefined ? this.#page.table(css) : this.#page.table(css, options);
  }

  /** The objects of the page's JSON-LD, out of lists and `@graph`; only those of a type, such as `Product`, if one is given. */
  jsonLd(type?: string): readonly JsonLdObject[] {
    return jsonLdIn(this.#read().top, type);
  }

  /**
   * The objects that are marked up in the page, as microdata (`itemscope`) or RDFa Lite (`typeof`), in the form of {@link jsonLd}: those that
   * are in no other, or all of a type, such as `Product`.
   */
  microdata(type?: string): readonly JsonLdObject[] {
    const { objects, isCut } = microdataIn(this.#read().top, this.base);
    this.#wasCut ||= isCut;
    return type === undefined
      ? objects.filter(({ isInside }) => !isInside).map(({ object }) => object)
      : objects.map(({ object }) => object).filter((object) => hasType(object, type));
  }

  /** The page's Open Graph properties: `og:title` is `title`; those of other prefixes, such as `article:author`, keep their names. */
  get openGraph(): Readonly<Record<string, string>> {
    return openGraphIn(this.#read().top);
  }

  /** The content of the first `<meta>` with this `name`, `property`, `itemprop` or `http-equiv`. */
  meta(name: string): string | undefined {
    return metaIn(this.#read().top, name);
  }

  /** What the page says, or what the first element that matches says, as markdown with absolute links; undefined if none does. */
  markdown(css?: string): string | undefined {
    return css === undefined ? this.#page.markdown() : this.#page.first(css)?.markdown();
  }

  /** The main content of an HTML page, without navigation, banners, related links and comments; undefined if it has none, as a list of links. */
  get article(): Article | undefined {
    this.#article ??= {
      found: isHtml(this.contentType) ? articleIn(this.#read().top, this.base, this.#onCut) : undefined,
    };
    return this.#article.found;
  }

  /** The first group of a regular expression in the page's source, or all that it matches if it has no group. */
  match(pattern: RegExp): string | undefined {
    return matchIn(this.text, pattern);
  }

  /** {@link match}, of every place in the source. */
  matchAll(pattern: RegExp): readonly string[] {
    return matchAllIn(this.text, pattern);
  }

  /**
   * The body as JSON, or what is at a path in it, such as `items[0].price`; undefined if there is nothing, or it isn't JSON. A guard
   * such as `)]}',` and a call around it (JSONP) are left out; JSON of one value a line is the list of them.
   */
  json<T = unknown>(path = ''): T | undefined {
    this.#json ??= { value: bodyJson(this.text, this.contentType) };
    return atPath(this.#json.value, path) as T | undefined;
  }

  /**
   * The value that a script of the page gives a variable or a property of this name, as in `window.__STATE__ = {…}`, or what is at a path
   * in it; undefined if there is none that is written out. See {@link literalAt} for what is read.
   */
  variable<T = unknown>(name: string, path = ''): T | undefined {
    return atPath(variableIn(this.#scripts(), name), path) as T | undefined;
  }

  /** HTML that the page carries as text, in JSON or in a feed, say, with the tools of a page; its links are relative to the page. Rows of a table may come without it. */
  fragment(html: string): Selection {
    const tree = htmlFragment(html);
    this.#wasCut ||= tree.isCut;
    return this.#selection(tree);
  }

  /** All elements that match in the body read as XML, whatever its type: of a feed that a server calls HTML, say. */
  xml(css: string): readonly Selection[] {
    this.#xml ??= isXml(this.contentType) ? this.#read() : xmlTree(this.text);
    return this.#selection(this.#xml).all(css);
  }

  /** What an XPath 3.1 expression finds, in HTML and XML: elements with their tools, or attributes, texts and numbers, by their `text`. */
  xpath(expression: string): readonly Selection[] {
    return this.#page.xpath(expression);
  }

  /**
   * Forgets what the tools have read: a page is kept until its record is stored, and its tree takes many times the memory. A tool that
   * is used later reads the page again.
   */
  forgetTree(): void {
    this.#wasCut = this.isTreeCut;
    this.#tree = undefined;
    this.#top = undefined;
    this.#xml = undefined;
    this.#json = undefined;
    this.#article = undefined;
  }

  /** Is there more on the page than in the markdown that was made of it? */
  protected get isMarkdownCut(): boolean {
    return this.#isMarkdownCut || (this.#tree?.isCut ?? false);
  }

  /** Does the page have more than its tools see? */
  protected get isTreeCut(): boolean {
    return this.#wasCut || this.#isMarkdownCut || (this.#tree?.isCut ?? false) || (this.#xml?.isCut ?? false);
  }

  /** Title and links were found with the tree. */
  protected abstract noteDocument(document: Document): void;

  /** The links of the elements that match, or of those inside them. */
  protected linksOf(css: string): readonly string[] {
    return this.#page.links(css);
  }

  get #page(): Selection {
    this.#top ??= this.#selection(this.#read());
    return this.#top;
  }

  #selection({ top, isXml }: Tree): Selection {
    return new Selection(top, { isXml, base: () => this.base, onCut: this.#onCut });
  }

  #read(): Tree {
    if (this.#tree === undefined) {
      this.#tree = this.#parsed();
      if (this.#tree.document !== undefined) this.noteDocument(this.#tree.document);
    }
    return this.#tree;
  }

  /** The texts of the page's scripts: a page that is no document may be one itself. */
  *#scripts(): Generator<string> {
    if (isHtml(this.contentType) || isXml(this.contentType))
      for (const script of this.#read().top.named('script')) yield script.source;
    else yield this.text;
  }

  #parsed(): Tree {
    if (isXhtml(this.contentType)) return xhtmlTree(this.text);
    if (isHtml(this.contentType)) {
      const { text } = this;
      return htmlTree(text, this.encodeQuery === undefined ? this.url : undefined);
    }
    return isXml(this.contentType) ? xmlTree(this.text) : htmlTree('');
  }
}

/** What links of a page without a `<base>` are relative to. */
export function baseOfUrl(url: string): LinkBase {
  const parsed = new URL(url);
  [parsed.hash, parsed.username, parsed.password] = ['', '', ''];
  return linkBase(parsed.href);
}
