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

/** What a page knows of its elements. */
export interface Surroundings {
  readonly isXml: boolean;
  /** What links are relative to. */
  readonly base: () => LinkBase;
  /** Told of markdown that isn't all of what it is of. */
  readonly onCut: () => void;
}

/** How {@link Selection.table} shows a table. */
export interface TableOptions {
  /** `false`: rows are lists of texts, and the header is one of them. Default: rows are objects. */
  readonly header: boolean;
}

/**
 * One element of a page, with the tools of a page. What is missing is undefined, or an empty list; only an invalid selector or XPath
 * throws, with an Error that names it. Selectors are CSS, `element.all('> li')` included, and look inside the element.
 */
export class Selection {
  readonly #at: NodeHandle;
  readonly #in: Surroundings;

  constructor(at: NodeHandle, surroundings: Surroundings) {
    this.#at = at;
    this.#in = surroundings;
  }

  /** The node in the page's tree. */
  static nodeOf(selection: Selection): AnyNode {
    return selection.#at.node;
  }

  /** What the links of its page are relative to. */
  static baseOf(selection: Selection): LinkBase {
    return selection.#in.base();
  }

  /** Its text: white space folded and trimmed, without scripts and styles. */
  get text(): string {
    return this.#at.text;
  }

  /** Its markup, the element itself included, as the tree has it. */
  get html(): string {
    return DomUtils.getOuterHTML(this.#at.node, { xmlMode: this.#in.isXml });
  }

  /** The element's name, such as `li`. */
  get name(): string {
    return this.#at.name;
  }

  /** The text of the first element that matches; undefined if none does. */
  get(css: string): string | undefined {
    return this.#at.first(css)?.text;
  }

  /** The first element that matches. */
  first(css: string): Selection | undefined {
    const found = this.#at.first(css);
    return found === undefined ? undefined : new Selection(found, this.#in);
  }

  /** All elements that match, in the order of the page. */
  all(css: string): readonly Selection[] {
    return this.#at.all(css).map((element) => new Selection(element, this.#in));
  }

  /** An attribute of the element itself, as written; with a selector, of the first element that matches. */
  attr(name: string): string | undefined;
  attr(css: string, name: string): string | undefined;
  attr(cssOrName: string, name?: string): string | undefined {
    return name === undefined ? this.#at.attribute(cssOrName) : this.#at.first(cssOrName)?.attribute(name);
  }

  /** The first number in the text of the element, or of the first that matches; {@link numberIn} has the rules. */
  number(css?: string, options?: NumberOptions): number | undefined {
    const text = css === undefined ? this.text : this.get(css);
    return text === undefined ? undefined : numberIn(text, options);
  }

  /** The absolute links of the element and those inside it, or of the elements that match, each once; see {@link linksOf}. */
  links(css?: string): readonly string[] {
    return this.#at.links(css, this.#in.base());
  }

  /** The rows of the first table, or of the first table that matches or is in what matches; see {@link tableRows}. */
  table(css?: string): readonly TableRow[] | undefined;
  table(css: string | undefined, options: TableOptions): readonly (readonly string[])[] | undefined;
  table(css?: string, options?: TableOptions): readonly TableRow[] | readonly (readonly string[])[] | undefined {
    const found = css === undefined ? this.#at : this.#at.first(css);
    const table = found === undefined ? undefined : tableIn(found.node);
    if (table === undefined) return undefined;
    return options?.header === false ? gridOf(table).rows.map((row) => row.map(({ text }) => text)) : tableRows(table);
  }

  /** The first group of a regular expression in the text, or all that it matches if it has no group. */
  match(pattern: RegExp): string | undefined {
    return matchIn(this.text, pattern);
  }

  /** {@link match}, of every place in the text. */
  matchAll(pattern: RegExp): readonly string[] {
    return matchAllIn(this.text, pattern);
  }

  /** What a `<script>` holds as JSON, or any other element as its text, or what is at a path in that; undefined if there is nothing, or it isn't JSON. */
  json<T = unknown>(path = ''): T | undefined {
    return atPath(writtenJson(this.#at.source), path) as T | undefined;
  }

  /** What an XPath expression finds from here. Attributes, texts and numbers have a `text`, too. */
  xpath(expression: string): readonly Selection[] {
    return evaluate(expression, this.#at.node).map((found) => {
      return new Selection(new TreeHandle(found, this.#in.isXml), this.#in);
    });
  }

  /** What the element says, as markdown with absolute links; see `docs/crawlers.md` for its limits. */
  markdown(): string {
    return markdownOf(this.#at.node, this.#in.base(), { onCut: this.#in.onCut });
  }
}
