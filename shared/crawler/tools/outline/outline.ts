import { decodeHTML, decodeHTMLAttribute } from 'entities';
import { MAX_TREE_ELEMENTS } from '../../../task/task/page-limits.ts';
import type { HtmlTokenizer } from '../../html/tokenizer.ts';
import { isLine, NOT_READ } from '../text.ts';

/** A node of an {@link Outline}: 0 is the document, the others follow in document order. */
export type OutlineNode = number;

/** Attributes by name, names in lower case. */
export type Attributes = Readonly<Record<string, string>>;

/** An attribute of SVG, in the form of parse5: `xlink:href` is `href` with a prefix. */
export interface ForeignAttribute {
  readonly name: string;
  readonly value: string;
  readonly prefix?: string | undefined;
}

/** Names that mark texts: one without entities, and one that may have some. */
const TEXT = '';
const ENCODED_TEXT = '&';

/** The numbers kept for a node. */
const FIELDS = 4;
const PARENT = 0;
/** The next node that isn't inside this one. */
const END = 1;
/** The range in the page of a text, or of an element's attributes, without its name. */
const FROM = 2;
const TO = 3;
/** {@link FROM} of an element that the page leaves out. */
const IMPLIED = -1;

/** A comment splits a text in two, so there can be more texts than elements. */
const MAX_NODES = 4 * MAX_TREE_ELEMENTS;
/**
 * An element's attributes are parsed once and cached, rather than on each query, if they are longer than the first number or queried more
 * often than the second: selectors query all ancestors of an element, again for each element inside them.
 */
const MAX_LOOKED_THROUGH = 512;
const MAX_ASKED = 8;

/**
 * A page's tree as numbers plus the page's text. Most of the cost of parsing a page is the objects for its nodes, and crawlers use few of
 * them; here each node is just a name and four numbers.
 */
export class Outline {
  readonly #html: string;
  readonly #names: readonly string[];
  readonly #fields: Int32Array;
  readonly #tokenizer: HtmlTokenizer;
  readonly #foreign: ReadonlyMap<OutlineNode, readonly ForeignAttribute[]>;
  /** Attributes that were parsed and cached. */
  readonly #attributes = new Map<OutlineNode, Attributes>();
  /** How often an attribute of each element was queried, up to {@link MAX_ASKED}. */
  readonly #asked: Uint8Array;

  /** @param tokenizer the one that has read `html` */
  constructor(
    html: string,
    tokenizer: HtmlTokenizer,
    names: readonly string[],
    fields: Int32Array,
    foreign: ReadonlyMap<OutlineNode, readonly ForeignAttribute[]>,
  ) {
    this.#html = html;
    this.#tokenizer = tokenizer;
    this.#names = names;
    this.#fields = fields;
    this.#foreign = foreign;
    this.#asked = new Uint8Array(names.length);
  }

  /** Number of nodes, the document included. */
  get length(): number {
    return this.#names.length;
  }

  isElement(node: OutlineNode): boolean {
    const name = this.#names[node];
    return name !== TEXT && name !== ENCODED_TEXT && node !== 0;
  }

  /** Returns the name of an element. */
  name(node: OutlineNode): string {
    return this.#names[node] ?? '';
  }

  /** Returns the attributes of an SVG element; undefined for an HTML element. */
  foreign(node: OutlineNode): readonly ForeignAttribute[] | undefined {
    return this.#foreign.get(node);
  }

  parent(node: OutlineNode): OutlineNode {
    return this.#field(node, PARENT);
  }

  /** Returns the next node that isn't inside this one. */
  end(node: OutlineNode): OutlineNode {
    return this.#field(node, END);
  }

  /** Returns an attribute of an element. The name has no ASCII capitals in HTML; in SVG, it is spelt as in the tree. */
  attribute(node: OutlineNode, name: string): string | undefined {
    const from = this.#field(node, FROM);
    const to = this.#field(node, TO);
    // Most elements have no attributes.
    if (to - from <= 1) return undefined;
    if (to - from > MAX_LOOKED_THROUGH || this.#isAskedOften(node) || this.#foreign.has(node))
      return ownOf(this.attributes(node), name);
    const tokenizer = this.#tokenizer;
    tokenizer.rewindAttributes(from);
    while (tokenizer.nextAttribute()) {
      const { attributeStart: start, attributeEnd: end } = tokenizer;
      if (end - start !== name.length) continue;
      if (this.#html.startsWith(name, start) || lowerCase(this.#html.slice(start, end)) === name)
        return attributeValue(this.#html, tokenizer);
    }
    return undefined;
  }

  /** Returns all attributes of an element. */
  attributes(node: OutlineNode): Attributes {
    const known = this.#attributes.get(node);
    if (known !== undefined) return known;
    const attributes = this.#readAttributes(node);
    this.#attributes.set(node, attributes);
    return attributes;
  }

  /** Returns the content of a text. */
  data(node: OutlineNode): string {
    const written = this.#html.slice(this.#field(node, FROM), this.#field(node, TO));
    return this.#names[node] === ENCODED_TEXT ? decodeHTML(written) : written;
  }

  /** Returns all text in a node, as written. */
  source(node: OutlineNode): string {
    let source = '';
    for (let at = node + 1; at < this.end(node); at++) if (!this.isElement(at)) source += this.data(at);
    return source;
  }

  /** Returns the text in a node as a reader sees it, with spaces where a line begins or ends; see {@link textOf}. */
  text(node: OutlineNode): string {
    const end = this.end(node);
    let text = '';
    for (let at = node + 1; at < end; at = this.end(at)) {
      if (!this.isElement(at)) text += this.data(at);
      else if (isLine(this.name(at))) text += ` ${this.text(at)} `;
      else if (!NOT_READ.has(this.name(at))) text += this.text(at);
    }
    return text;
  }

  #isAskedOften(node: OutlineNode): boolean {
    const asked = this.#asked[node] ?? 0;
    if (asked === MAX_ASKED) return true;
    this.#asked[node] = asked + 1;
    return false;
  }

  #readAttributes(node: OutlineNode): Attributes {
    const foreign = this.#foreign.get(node);
    if (foreign !== undefined) {
      const attributes = new OwnNames();
      for (const { name, value } of foreign) attributes[name] = value;
      return attributes;
    }
    const from = this.#field(node, FROM);
    if (from === IMPLIED) return new OwnNames();
    this.#tokenizer.rewindAttributes(from);
    return readAttributes(this.#html, this.#tokenizer);
  }

  #field(node: OutlineNode, field: number): number {
    return this.#fields[node * FIELDS + field] ?? 0;
  }
}

/** Buffer of {@link OutlineBuilder}, until the number of nodes is known. Shared, since pages are read one at a time. */
let scratch = new Int32Array(1_024 * FIELDS);

/** A page has too many nodes for an outline. */
export class OutlineFull extends Error {}

/** Builds an {@link Outline}, from the start of the page to its end. */
export class OutlineBuilder {
  readonly #html: string;
  readonly #tokenizer: HtmlTokenizer;
  readonly #names: string[] = ['#document'];
  readonly #open: OutlineNode[] = [0];
  readonly #foreign = new Map<OutlineNode, readonly ForeignAttribute[]>();
  /** The next `&`, as last searched. */
  #ampersandAt = -1;

  constructor(html: string, tokenizer: HtmlTokenizer) {
    this.#html = html;
    this.#tokenizer = tokenizer;
    scratch.fill(0, 0, FIELDS);
  }

  /** Number of open nodes, the document included. */
  get depth(): number {
    return this.#open.length;
  }

  /** Opens the element of the tag just read. */
  open(name: string): void {
    const { attributesStart, position } = this.#tokenizer;
    this.#open.push(this.#add(name, attributesStart, position));
  }

  openImplied(name: string): void {
    this.#open.push(this.#add(name, IMPLIED, IMPLIED));
  }

  /** Opens an SVG element. */
  openForeign(name: string, attributes: readonly ForeignAttribute[]): void {
    this.#foreign.set(this.#names.length, attributes);
    this.open(name);
  }

  /** Closes the innermost element. */
  close(): void {
    scratch[(this.#open.pop() ?? 0) * FIELDS + END] = this.#names.length;
  }

  /** Adds a range of the page as a text. */
  text(from: number, to: number, mayHaveEntities: boolean): void {
    if (this.#ampersandAt < from) {
      const at = this.#html.indexOf('&', from);
      this.#ampersandAt = at < 0 ? this.#html.length : at;
    }
    const node = this.#add(mayHaveEntities && this.#ampersandAt < to ? ENCODED_TEXT : TEXT, from, to);
    scratch[node * FIELDS + END] = node + 1;
  }

  outline(): Outline {
    while (this.#open.length > 0) this.close();
    const fields = scratch.slice(0, this.#names.length * FIELDS);
    return new Outline(this.#html, this.#tokenizer, this.#names, fields, this.#foreign);
  }

  #add(name: string, from: number, to: number): OutlineNode {
    const node = this.#names.length;
    if (node >= MAX_NODES) throw new OutlineFull();
    const at = node * FIELDS;
    if (at === scratch.length) scratch = doubled(scratch);
    scratch[at + PARENT] = this.#open.at(-1) ?? 0;
    scratch[at + FROM] = from;
    scratch[at + TO] = to;
    this.#names.push(name);
    return node;
  }
}

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(numbers.length * 2);
  more.set(numbers);
  return more;
}

/** An object without inherited names, like one from `Object.create(null)`, which V8 handles more slowly. */
class OwnNames {
  [name: string]: string;
}
Reflect.deleteProperty(OwnNames.prototype, 'constructor');
Object.setPrototypeOf(OwnNames.prototype, null);

/** Common names, so that no new string is made for each use. */
const USUAL_NAMES = new Map(
  'alt class content height href id lang name property rel src srcset style target title type value width'
    .split(' ')
    .map((name) => [name, name]),
);

/** Reads the attributes of a tag from the tokenizer's position. The first of two with the same name counts. */
export function readAttributes(html: string, tokenizer: HtmlTokenizer): Attributes {
  const attributes = new OwnNames();
  while (tokenizer.nextAttribute()) {
    const written = html.slice(tokenizer.attributeStart, tokenizer.attributeEnd);
    const name = USUAL_NAMES.get(written) ?? lowerCase(written);
    if (!(name in attributes)) attributes[name] = attributeValue(html, tokenizer);
  }
  return attributes;
}

function attributeValue(html: string, { valueStart, valueEnd }: HtmlTokenizer): string {
  const value = html.slice(valueStart, valueEnd);
  return value.includes('&') ? decodeHTMLAttribute(value) : value;
}

function ownOf(attributes: Attributes, name: string): string | undefined {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

/** Lower-cases ASCII letters only, as HTML does. */
export function lowerCase(name: string): string {
  return /[A-Z]/.test(name) ? name.replaceAll(/[A-Z]{1,1000}/g, (letters) => letters.toLowerCase()) : name;
}
