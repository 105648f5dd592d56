import type { AnyNode } from 'domhandler';
import { DomUtils } from 'htmlparser2';
import type { LinkBase } from '../../task/url/url.ts';
import { markdownOf } from '../markdown/markdown.ts';
import { matchAllIn, matchIn } from './matching.ts';
import type { NodeHandle } from './node-handle.ts';
import { type NumberOptions, numberIn } from './numbers.ts';
import { gridOf, type TableRow, tableIn, tableRows } from './table.ts';
import { TreeHandle } from './tree-handle.ts';
import { atPath, writtenJson } from './written/written-json.ts';
import { evaluate } from './xpath.ts';

/** The page around an element. */
export interface Surroundings {
  readonly isXml: boolean;
  /** The base of relative links. */
  readonly base: () => LinkBase;
  /** Called when markdown was cut short. */
  readonly onCut: () => void;
}

/** How {@link Selection.table} shows a table. */
export interface TableOptions {
  /** `false` returns rows as lists of texts, the header among them. By default, rows are objects. */
  readonly header: boolean;
}

/**
 * One element of a page, with the tools of a page. A missing value is undefined, or an empty list. Only an invalid selector or XPath
 * throws, with an Error that names it. Selectors are CSS and search inside the element; `element.all('> li')` works.
 */
export class Selection {
  readonly #at: NodeHandle;
  readonly #in: Surroundings;

  constructor(at: NodeHandle, surroundings: Surroundings) {
    this.#at = at;
    this.#in = surroundings;
  }

  /** Returns an element's node in the page's tree. */
  static nodeOf(selection: Selection): AnyNode {
    return selection.#at.node;
  }

  /** Returns the base of links on the element's page. */
  static baseOf(selection: Selection): LinkBase {
    return selection.#in.base();
  }

  /** Its text, without scripts and styles, white space folded and trimmed. */
  get text(): string {
    return this.#at.text;
  }

  /** Its markup, the element's own tags included, as serialised from the tree. */
  get html(): string {
    return DomUtils.getOuterHTML(this.#at.node, { xmlMode: this.#in.isXml });
  }

  /** The element's name, such as `li`. */
  get name(): string {
    return this.#at.name;
  }

  /** Returns the text of the first element that matches; undefined if none does. */
  get(css: string): string | undefined {
    return this.#at.first(css)?.text;
  }

  /** Returns the first element that matches; undefined if none does. */
  first(css: string): Selection | undefined {
    const found = this.#at.first(css);
    return found === undefined ? undefined : new Selection(found, this.#in);
  }

  /** Returns all elements that match, in document order. */
  all(css: string): readonly Selection[] {
    return this.#at.all(css).map((element) => new Selection(element, this.#in));
  }

  /** Returns an attribute as written: the element's own or, with a selector, that of the first element that matches. */
  attr(name: string): string | undefined;
  attr(css: string, name: string): string | undefined;
  attr(cssOrName: string, name?: string): string | undefined {
    return name === undefined ? this.#at.attribute(cssOrName) : this.#at.first(cssOrName)?.attribute(name);
  }

  /** Returns the first number in the text of the element, or of the first that matches. {@link numberIn} has the rules. */
  number(css?: string, options?: NumberOptions): number | undefined {
    const text = css === undefined ? this.text : this.get(css);
    return text === undefined ? undefined : numberIn(text, options);
  }

  /** Returns the absolute links of the element and those inside it, or of the elements that match, each once; see {@link linksOf}. */
  links(css?: string): readonly string[] {
    return this.#at.links(css, this.#in.base());
  }

  /** Returns the rows of the first table; with a selector, of the first matching element or the first table in it. See {@link tableRows}. */
  table(css?: string): readonly TableRow[] | undefined;
  table(css: string | undefined, options: TableOptions): readonly (readonly string[])[] | undefined;
  table(css?: string, options?: TableOptions): readonly TableRow[] | readonly (readonly string[])[] | undefined {
    const found = css === undefined ? this.#at : this.#at.first(css);
    const table = found === undefined ? undefined : tableIn(found.node);
    if (table === undefined) return undefined;
    return options?.header === false ? gridOf(table).rows.map((row) => row.map(({ text }) => text)) : tableRows(table);
  }

  /** Returns the first group that a regular expression captures in the text, or the whole match if it has no groups. */
  match(pattern: RegExp): string | undefined {
    return matchIn(this.text, pattern);
  }

  /** Returns the same as {@link match}, for every match in the text. */
  matchAll(pattern: RegExp): readonly string[] {
    return matchAllIn(this.text, pattern);
  }

  /** Parses the source of a `<script>`, or the text in any other element, as JSON. Returns it, or the value at a path; undefined if there is none. */
  json<T = unknown>(path = ''): T | undefined {
    return atPath(writtenJson(this.#at.source), path) as T | undefined;
  }

  /** Returns the results of an XPath expression, evaluated from this element. Attributes, texts and numbers also have a `text`. */
  xpath(expression: string): readonly Selection[] {
    return evaluate(expression, this.#at.node).map((found) => {
      return new Selection(new TreeHandle(found, this.#in.isXml), this.#in);
    });
  }

  /** Returns the element as markdown with absolute links. `docs/crawlers.md` has the limits. */
  markdown(): string {
    return markdownOf(this.#at.node, this.#in.base(), { onCut: this.#in.onCut });
  }
}
