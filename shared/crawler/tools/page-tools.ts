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
 * The tools that extract data from a page. The page is parsed when a tool is first used, once for all tools. A missing value is undefined,
 * or an empty list. Only an invalid selector or XPath throws, with an Error that names it.
 *
 * HTML is parsed as a browser does it, XML by its own rules (names as written). A page of any other type has no elements.
 */
export abstract class PageTools {
  #tree: Tree | undefined;
  #top: Selection | undefined;
  #xml: Tree | undefined;
  #json: { readonly value: unknown } | undefined;
  #article: { readonly found: Article | undefined } | undefined;
  /** Whether a tree that was forgotten, a fragment, or the marked-up objects were cut. */
  #wasCut = false;
  #isMarkdownCut = false;
  readonly #onCut = (): void => {
    this.#isMarkdownCut = true;
  };

  /** The page's URL, after redirects. */
  abstract get url(): string;
  /** The media type in lower case, without parameters; undefined if the server sent none. */
  abstract get contentType(): string | undefined;
  /** The body as text. */
  abstract get text(): string;
  /** The base of relative links. */
  protected abstract get base(): LinkBase;
  /** Writes the queries of links in the page's encoding; undefined for UTF-8, or until the text is decoded. */
  protected abstract get encodeQuery(): QueryEncoder | undefined;

  /** Returns the text of the first element that a CSS selector matches, white space folded and trimmed; undefined if none does. */
  get(css: string): string | undefined {
    return this.#page.get(css);
  }

  /** Returns the first element that matches, itself with these tools; undefined if none does. */
  first(css: string): Selection | undefined {
    return this.#page.first(css);
  }

  /** Returns all elements that match, in document order, each with these tools. */
  all(css: string): readonly Selection[] {
    return this.#page.all(css);
  }

  /** Returns an attribute of the first element that matches, as written; undefined if there is none. */
  attr(css: string, name: string): string | undefined {
    return this.#page.attr(css, name);
  }

  /** Returns the first number in the text of the first element that matches: 1299 for `1.299,00 €`. Rules: `docs/crawlers.md`. */
  number(css: string, options?: NumberOptions): number | undefined {
    return this.#page.number(css, options);
  }

  /**
   * Returns the rows of the first table as objects, keyed by the header's texts, or by column number from 0 without a header. With a
   * selector, takes the first matching element, or the first table in it. With `{ header: false }`, returns all rows as lists of texts.
   */
  table(css?: string): readonly TableRow[] | undefined;
  table(css: string | undefined, options: TableOptions): readonly (readonly string[])[] | undefined;
  table(css?: string, options?: TableOptions): readonly TableRow[] | readonly (readonly string[])[] | undefined {
    return options === undefined ? this.#page.table(css) : this.#page.table(css, options);
  }

  /** Returns the objects of the page's JSON-LD, unpacked from lists and `@graph`; with a type, such as `Product`, only those of that type. */
  jsonLd(type?: string): readonly JsonLdObject[] {
    return jsonLdIn(this.#read().top, type);
  }

  /**
   * Returns the objects marked up in the page as microdata (`itemscope`) or RDFa Lite (`typeof`), in the form of {@link jsonLd}. Without a
   * type, only the outermost objects; with one, such as `Product`, all objects of that type, nested ones included.
   */
  microdata(type?: string): readonly JsonLdObject[] {
    const { objects, isCut } = microdataIn(this.#read().top, this.base);
    this.#wasCut ||= isCut;
    return type === undefined
      ? objects.filter(({ isInside }) => !isInside).map(({ object }) => object)
      : objects.map(({ object }) => object).filter((object) => hasType(object, type));
  }

  /** The page's Open Graph properties. `og:title` becomes `title`; other prefixes stay, as in `article:author`. */
  get openGraph(): Readonly<Record<string, string>> {
    return openGraphIn(this.#read().top);
  }

  /** Returns the content of the first `<meta>` with this `name`, `property`, `itemprop` or `http-equiv`. */
  meta(name: string): string | undefined {
    return metaIn(this.#read().top, name);
  }

  /** Returns the page, or the first element that matches, as markdown with absolute links; undefined if none matches. */
  markdown(css?: string): string | undefined {
    return css === undefined ? this.#page.markdown() : this.#page.first(css)?.markdown();
  }

  /**
   * The main content of an HTML page, without navigation, banners, related links and comments; undefined if it has none, as with a page
   * that is a list of links.
   */
  get article(): Article | undefined {
    this.#article ??= {
      found: isHtml(this.contentType) ? articleIn(this.#read().top, this.base, this.#onCut) : undefined,
    };
    return this.#article.found;
  }

  /** Returns the first group that a regular expression captures in the page's source, or the whole match if it has no groups. */
  match(pattern: RegExp): string | undefined {
    return matchIn(this.text, pattern);
  }

  /** Returns the same as {@link match}, for every match in the source. */
  matchAll(pattern: RegExp): readonly string[] {
    return matchAllIn(this.text, pattern);
  }

  /**
   * Parses the body as JSON and returns it, or the value at a path, such as `items[0].price`; undefined if the body isn't JSON or the path
   * leads nowhere. Strips a guard such as `)]}',` and a surrounding call (JSONP). One value per line gives a list.
   */
  json<T = unknown>(path = ''): T | undefined {
    this.#json ??= { value: bodyJson(this.text, this.contentType) };
    return atPath(this.#json.value, path) as T | undefined;
  }

  /**
   * Returns the value that a script on the page assigns to a variable or property of this name, as in `window.__STATE__ = {…}`, or the value
   * at a path in it; undefined if no script has it as a literal. See {@link literalAt} for the literals that are read.
   */
  variable<T = unknown>(name: string, path = ''): T | undefined {
    return atPath(variableIn(this.#scripts(), name), path) as T | undefined;
  }

  /**
   * Parses HTML that the page carries as text, in JSON or a feed, say, and returns it with the tools of a page. Its links are relative to
   * the page. Table rows don't need a table around them.
   */
  fragment(html: string): Selection {
    const tree = htmlFragment(html);
    this.#wasCut ||= tree.isCut;
    return this.#selection(tree);
  }

  /** Parses the body as XML, whatever its media type, and returns all elements that match. For a feed served as HTML, say. */
  xml(css: string): readonly Selection[] {
    this.#xml ??= isXml(this.contentType) ? this.#read() : xmlTree(this.text);
    return this.#selection(this.#xml).all(css);
  }

  /** Returns the results of an XPath 3.1 expression, in HTML or XML: elements with their tools. Attributes, texts and numbers have a `text`. */
  xpath(expression: string): readonly Selection[] {
    return this.#page.xpath(expression);
  }

  /**
   * Forgets the parsed page: a page stays in memory until its record is stored, and its tree takes many times the memory. A tool used later
   * parses the page again.
   */
  forgetTree(): void {
    this.#wasCut = this.isTreeCut;
    this.#tree = undefined;
    this.#top = undefined;
    this.#xml = undefined;
    this.#json = undefined;
    this.#article = undefined;
  }

  /** Whether the page has more than the markdown made from it. */
  protected get isMarkdownCut(): boolean {
    return this.#isMarkdownCut || (this.#tree?.isCut ?? false);
  }

  /** Whether the page has more than its tools see. */
  protected get isTreeCut(): boolean {
    return this.#wasCut || this.#isMarkdownCut || (this.#tree?.isCut ?? false) || (this.#xml?.isCut ?? false);
  }

  /** Called with the title and links if parsing the tree found them on the way. */
  protected abstract noteDocument(document: Document): void;

  /** Returns the links of the elements that match, or of the elements inside them. */
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

  /** Yields the sources of the page's scripts. A page that is neither HTML nor XML can be a script itself. */
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

/** Returns the base of links on a page without a `<base>`. */
export function baseOfUrl(url: string): LinkBase {
  const parsed = new URL(url);
  [parsed.hash, parsed.username, parsed.password] = ['', '', ''];
  return linkBase(parsed.href);
}
