import { decodeHTML, decodeHTMLAttribute } from 'entities';
import { MAX_TREE_ELEMENTS } from '../../../task/task/page-limits.ts';
import type { HtmlTokenizer } from '../../html/tokenizer.ts';
import { isLine, NOT_READ } from '../text.ts';

/** A node of an {@link Outline}: 0 is the document, the others follow in the order of the page. */
export type OutlineNode = number;

/** Attributes by name, names in lower case. */
export type Attributes = Readonly<Record<string, string>>;

/** One of SVG, as parse5 has it: `xlink:href` is `href` with a prefix. */
export interface ForeignAttribute {
  readonly name: string;
  readonly value: string;
  readonly prefix?: string | undefined;
}

/** Stands for the name of a text, and of one in which entities mean something. */
const TEXT = '';
const ENCODED_TEXT = '&';

/** What is kept of a node, as numbers. */
const FIELDS = 4;
const PARENT = 0;
/** The node behind all that is in it. */
const END = 1;
/** The range of a text in the page; that of an element's attributes, without its name. */
const FROM = 2;
const TO = 3;
/** {@link FROM} of an element that the page leaves out. */
const IMPLIED = -1;

/** A comment parts a text in two, so there may be more texts than elements. */
const MAX_NODES = 4 * MAX_TREE_ELEMENTS;
/**
 * Attributes that take more of the page than this are read once, and not whenever one is asked for; so are those of an element that is
 * asked more often: selectors ask all that is around an element, again for each element in it.
 */
const MAX_LOOKED_THROUGH = 512;
const MAX_ASKED = 8;

/**
 * A page's tree as numbers and the page's text. Most of what it costs to take a page apart is the objects of its nodes, of which
 * crawlers look at few; here a name and four numbers stand for each.
 */
export class Outline {
  readonly #html: string;
  readonly #names: readonly string[];
  readonly #fields: Int32Array;
  readonly #tokenizer: HtmlTokenizer;
  readonly #foreign: ReadonlyMap<OutlineNode, readonly ForeignAttribute[]>;
  /** Attributes that aren't looked for in the page each time. */
  readonly #attributes = new Map<OutlineNode, Attributes>();
  /** How often each element was asked for one, up to {@link MAX_ASKED}. */
  readonly #asked: Uint8Array;

  /** @param tokenizer which has read `html` */
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

  /** How many nodes there are, the document included. */
  get length(): number {
    return this.#names.length;
  }

  isElement(node: OutlineNode): boolean {
    const name = this.#names[node];
    return name !== TEXT && name !== ENCODED_TEXT && node !== 0;
  }

  /** The name of an element. */
  name(node: OutlineNode): string {
    return this.#names[node] ?? '';
  }

  /** The attributes of an element of SVG; nothing of one of HTML. */
  foreign(node: OutlineNode): readonly ForeignAttribute[] | undefined {
    return this.#foreign.get(node);
  }

  parent(node: OutlineNode): OutlineNode {
    return this.#field(node, PARENT);
  }

  /** The node behind all that is in this one. */
  end(node: OutlineNode): OutlineNode {
    return this.#field(node, END);
  }

  /** An attribute of an element by its name: in HTML without capitals of ASCII, in SVG as the tree has it. */
  attribute(node: OutlineNode, name: string): string | undefined {
    const from = this.#field(node, FROM);
    const to = this.#field(node, TO);
    // Most elements have none.
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

  /** All attributes of an element. */
  attributes(node: OutlineNode): Attributes {
    const known = this.#attributes.get(node);
    if (known !== undefined) return known;
    const attributes = this.#readAttributes(node);
    this.#attributes.set(node, attributes);
    return attributes;
  }

  /** The data of a text. */
  data(node: OutlineNode): string {
    const written = this.#html.slice(this.#field(node, FROM), this.#field(node, TO));
    return this.#names[node] === ENCODED_TEXT ? decodeHTML(written) : written;
  }

  /** The texts in a node, as written. */
  source(node: OutlineNode): string {
    let source = '';
    for (let at = node + 1; at < this.end(node); at++) if (!this.isElement(at)) source += this.data(at);
    return source;
  }

  /** The texts in a node for readers, with spaces where a line begins or ends; see {@link textOf}. */
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

/** What {@link OutlineBuilder} writes to before it knows how much there will be. One page is read at a time. */
let scratch = new Int32Array(1_024 * FIELDS);

/** Thrown for a page of too many nodes. */
export class OutlineFull extends Error {}

/** Makes an {@link Outline}, from the beginning of the page to its end. */
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

  /** How many nodes are open, the document included. */
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

  /** Opens an element of SVG. */
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

/** Knows no name but those that are put in, as what `Object.create(null)` makes, which takes V8 longer. */
class OwnNames {
  [name: string]: string;
}
Reflect.deleteProperty(OwnNames.prototype, 'constructor');
Object.setPrototypeOf(OwnNames.prototype, null);

/** Names that most pages have, so that no string is made of them. */
const USUAL_NAMES = new Map(
  'alt class content height href id lang name property rel src srcset style target title type value width'
    .split(' ')
    .map((name) => [name, name]),
);

/** The attributes of a tag, from where the tokenizer is. The first of two with the same name counts. */
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

/** As HTML does: letters of ASCII alone. */
export function lowerCase(name: string): string {
  return /[A-Z]/.test(name) ? name.replaceAll(/[A-Z]{1,1000}/g, (letters) => letters.toLowerCase()) : name;
}
