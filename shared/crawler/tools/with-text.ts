import type { AnyNode, Element } from 'domhandler';
import { isElement } from './nodes.ts';
import { spend, stepsPast } from './selector-work.ts';

/** Elements of results that are kept for each tree, those of all searched texts together. */
const MOST_HOLDERS = 3_200_000;

/**
 * `:contains` and `:icontains` for css-select, which aren't CSS, but widely used. Its own versions collect the text of every element again,
 * which takes half a minute on a page that nests 400 elements. These search the whole text once, so the tree must not change.
 */
export const WITH_TEXT: Readonly<Record<string, (element: Element, wanted?: string | null) => boolean>> = {
  contains: (element, wanted) => textsOf(element, asWritten).hold(element, wanted ?? ''),
  icontains: (element, wanted) => textsOf(element, inLowerCase).hold(element, inLowerCase(wanted ?? '')),
};

type Form = (text: string) => string;

const asWritten: Form = (text) => text;
const inLowerCase: Form = (text) => text.toLowerCase();

/** By form, the texts in the tree of each element. */
const known = new Map<Form, WeakMap<Element, Texts>>();

function textsOf(element: Element, form: Form): Texts {
  const texts = known.get(form) ?? new WeakMap<Element, Texts>();
  known.set(form, texts);
  const found = texts.get(element);
  if (found !== undefined) return found;
  let top: AnyNode = element;
  while (top.parent !== null) top = top.parent;
  const made = new Texts(top, form);
  for (const each of made.elements) texts.set(each, made);
  return made;
}

/** The text of a tree, and the part of it that each element has. A `<br>` is a line feed. */
class Texts {
  readonly #whole: string;
  /** By element, in document order, where its text begins and ends. */
  readonly #places = new Map<Element, { readonly start: number; end: number }>();
  /** By text, the elements that contain it. */
  readonly #found = new Map<string, ReadonlySet<Element>>();
  /** Elements in all of these. */
  #kept = 0;

  constructor(top: AnyNode, form: Form) {
    const parts: string[] = [];
    let length = 0;
    const add = (part: string): void => {
      parts.push(part);
      length += part.length;
    };
    const waiting: (AnyNode | { readonly endOf: { end: number } })[] = [top];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if ('endOf' in node) {
        node.endOf.end = length;
        continue;
      }
      if (isElement(node)) {
        const place = { start: length, end: length };
        this.#places.set(node, place);
        waiting.push({ endOf: place });
        if (node.name === 'br') add('\n');
      }
      if (node.type === 'text') add(form(node.data));
      if ('children' in node) for (const child of node.children.toReversed()) waiting.push(child);
    }
    this.#whole = parts.join('');
  }

  get elements(): Iterable<Element> {
    return this.#places.keys();
  }

  /** Returns whether an element's text contains a text. */
  hold(element: Element, wanted: string): boolean {
    let found = this.#found.get(wanted);
    if (found === undefined) {
      found = this.#holdersOf(wanted);
      if (this.#kept + found.size > MOST_HOLDERS) this.#forget();
      this.#found.set(wanted, found);
      this.#kept += found.size;
    }
    return found.has(element);
  }

  #forget(): void {
    this.#found.clear();
    this.#kept = 0;
  }

  #holdersOf(wanted: string): ReadonlySet<Element> {
    const holders = new Set<Element>();
    spend(this.#places.size + stepsPast(this.#whole));
    let at = this.#whole.indexOf(wanted);
    for (const [element, { start, end }] of this.#places) {
      if (at < start && at >= 0) at = this.#whole.indexOf(wanted, start);
      if (at < 0) break;
      if (at + wanted.length <= end) holders.add(element);
    }
    return holders;
  }
}
