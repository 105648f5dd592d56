import type { AnyNode, Element } from 'domhandler';
import {
  MAX_MICRODATA,
  MAX_MICRODATA_DEPTH,
  MICRODATA_NODE,
  MICRODATA_OBJECT,
} from '../../../task/task/page-limits.ts';
import type { LinkBase } from '../../../task/url/url.ts';
import type { NodeHandle } from '../node-handle.ts';
import { isElement } from '../nodes.ts';
import { folded, textOf } from '../text.ts';
import { type JsonLdObject, localName } from './structured-data.ts';

/** The attributes that mark up a page's objects: those of the HTML standard's microdata, or of RDFa Lite. */
interface Markup {
  readonly object: string;
  readonly type: string;
  readonly property: string;
  readonly id: string;
}
const MICRODATA: Markup = { object: 'itemscope', type: 'itemtype', property: 'itemprop', id: 'itemid' };
const RDFA: Markup = { object: 'typeof', type: 'typeof', property: 'property', id: 'resource' };

/** Attributes that hold an element's value, in this order: an address, or the machine-readable form of its text. */
const ADDRESSES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['a', 'area', 'link'].map((name) => [name, 'href'])),
  ...Object.fromEntries(['img', 'audio', 'embed', 'iframe', 'source', 'track', 'video'].map((name) => [name, 'src'])),
  object: 'data',
};
const MEANINGS: Readonly<Record<string, string>> = { data: 'value', meter: 'value', time: 'datetime' };

interface MarkedObject {
  readonly object: JsonLdObject;
  /** Whether it is the value of another object's property. */
  readonly isInside: boolean;
}

/** Returns the objects of a page in document order, each before those inside it. `isCut`: the page has more; see `page-limits.ts`. */
export function microdataIn(
  page: NodeHandle,
  base: LinkBase,
): { readonly objects: readonly MarkedObject[]; readonly isCut: boolean } {
  const reader = new MicrodataReader(page.node, base);
  reader.read();
  return reader;
}

class MicrodataReader {
  readonly objects: MarkedObject[] = [];
  isCut = false;
  readonly #top: AnyNode;
  readonly #base: LinkBase;
  readonly #seen = new Set<Element>();
  #left = MAX_MICRODATA;
  #byId: ReadonlyMap<string, Element> | undefined;

  constructor(top: AnyNode, base: LinkBase) {
    this.#top = top;
    this.#base = base;
  }

  read(): void {
    for (const element of elementsIn([this.#top])) {
      for (const markup of [MICRODATA, RDFA]) if (this.#isTop(element, markup)) this.#read(element, markup, []);
      if (this.#left < 0) return;
    }
  }

  /** Returns whether an element is an object, and not the value of another object's property. */
  #isTop(element: Element, markup: Markup): boolean {
    if (!isObject(element, markup)) return false;
    // A property in microdata can be referred to from further down the page. In RDFa the outer object has already been read.
    return element.attribs[markup.property] === undefined || (markup === RDFA && !this.#seen.has(element));
  }

  /** Reads an object; undefined once the limit is reached. @param around the objects that contain it */
  #read(element: Element, markup: Markup, around: readonly Element[]): JsonLdObject | undefined {
    const { attribs, children } = element;
    if (!this.#pays(MICRODATA_OBJECT + lengthOf(attribs) + MICRODATA_NODE * children.length)) return undefined;
    this.#seen.add(element);
    const said = new Map<string, unknown[]>();
    const types = namesIn(attribs[markup.type]);
    if (types.length > 0) said.set('@type', [...types]);
    const id = attribs[markup.id];
    if (id !== undefined) said.set('@id', [this.#address(id)]);
    const isInside = around.length > 0;
    // Takes its place in the list before the objects inside it.
    const place = this.objects.push({ object: {}, isInside }) - 1;
    const inside = [...around, element];
    for (const property of this.#propertiesOf(element, markup)) {
      const value = isObject(property, markup) ? this.#inner(property, markup, inside) : this.#valueOf(property);
      if (value === undefined) continue;
      for (const name of new Set(namesIn(property.attribs[markup.property]))) {
        if (!this.#pays(typeof value === 'string' ? value.length : MICRODATA_NODE)) break;
        const values = said.get(name);
        if (values === undefined) said.set(name, [value]);
        else values.push(value);
      }
    }
    const object = Object.fromEntries(
      [...said].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
    );
    this.objects[place] = { object, isInside };
    return object;
  }

  /** Reads an object that is the value of another's property; undefined if references make it contain itself. */
  #inner(element: Element, markup: Markup, around: readonly Element[]): JsonLdObject | undefined {
    if (around.includes(element)) return undefined;
    this.isCut ||= around.length >= MAX_MICRODATA_DEPTH;
    return around.length >= MAX_MICRODATA_DEPTH ? undefined : this.#read(element, markup, around);
  }

  /** Yields the elements with an object's properties: those inside it but in no inner object, and those that it refers to. */
  *#propertiesOf(object: Element, markup: Markup): Generator<Element> {
    const references = markup === MICRODATA ? wordsOf(object.attribs.itemref) : [];
    const referred = [...new Set(references)].flatMap((id) => this.#elementOf(id) ?? []);
    const isEnd = (element: Element): boolean => isObject(element, markup);
    for (const element of elementsIn([...object.children, ...referred], isEnd)) {
      if (!this.#pays(MICRODATA_NODE + lengthOf(element.attribs))) return;
      if (element.attribs[markup.property] !== undefined) yield element;
    }
  }

  #elementOf(id: string): Element | undefined {
    this.#byId ??= new Map(
      [...elementsIn([this.#top])].toReversed().map((element) => [element.attribs.id ?? '', element]),
    );
    return this.#byId.get(id);
  }

  #valueOf(element: Element): string | undefined {
    const { name, attribs } = element;
    if (attribs.content !== undefined) return folded(attribs.content);
    const address = attribs[ADDRESSES[name] ?? ''];
    if (address !== undefined) return this.#address(address);
    const meaning = attribs[MEANINGS[name] ?? ''];
    if (meaning !== undefined) return folded(meaning);
    return this.#paysFor(element) ? textOf(element) : undefined;
  }

  #address(written: string): string {
    return URL.parse(written, this.#base.href)?.href ?? written;
  }

  /** Pays for the content of an element before its text is read: each of several nested elements has the text of all those inside it. */
  #paysFor(element: Element): boolean {
    const waiting: AnyNode[] = [element];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (!this.#pays(MICRODATA_NODE + ('data' in node ? node.data.length : 0))) return false;
      if ('children' in node) for (const child of node.children) waiting.push(child);
    }
    return true;
  }

  #pays(cost: number): boolean {
    this.#left -= cost;
    this.isCut ||= this.#left < 0;
    return this.#left >= 0;
  }
}

function isObject(element: Element, { object }: Markup): boolean {
  return element.attribs[object] !== undefined;
}

/** Yields the elements in nodes, in document order, without those inside an element for which `isEnd` is true. */
function* elementsIn(
  nodes: readonly AnyNode[],
  isEnd: (element: Element) => boolean = () => false,
): Generator<Element> {
  const waiting = nodes.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isElement(node)) yield node;
    if (!('children' in node) || (isElement(node) && isEnd(node))) continue;
    for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as AnyNode);
  }
}

function wordsOf(text = ''): readonly string[] {
  const words = folded(text);
  return words === '' ? [] : words.split(' ');
}

/** Returns the names in an attribute, without their vocabularies. */
function namesIn(text: string | undefined): readonly string[] {
  return wordsOf(text)
    .map(localName)
    .filter((name) => name !== '');
}

function lengthOf(attribs: Element['attribs']): number {
  return Object.values(attribs).reduce((length, value) => length + value.length, 0);
}
