import type { AnyNode, Element } from 'domhandler';
import { elementsNamed, isElement } from '../tools/nodes.ts';
import { textOf } from '../tools/text.ts';

const LINK: ReadonlySet<string> = new Set(['a']);
const NOTES: ReadonlySet<string> = new Set(['li', 'aside', 'div', 'p', 'dd', 'section']);
const INLINE: ReadonlySet<string> = new Set(['sup', 'span', 'b', 'i', 'em', 'small']);
const REFERENCE = /(?:foot|end)-?note|note-?ref|cite-?ref|(?:^|\s)reference(?:\s|$)/i;
/** Maximum elements between a footnote and its link back to the text. */
const MOST_BETWEEN = 6;
/** Maximum characters of a reference: `[12]`, `note 3`. */
const MOST_SHOWN = 10;

/** A link in the text to a footnote. */
interface Reference {
  readonly link: Element;
  /** The id of the footnote. */
  readonly note: string;
}

/** The footnotes of a page and their references in the text. */
export interface Footnotes {
  /** Labels by the link in the text. */
  readonly references: ReadonlyMap<Element, string>;
  /** Labels by the element that contains the footnote. */
  readonly notes: ReadonlyMap<Element, string>;
  /** The links from footnotes back to the text, with the arrows and brackets around them. */
  readonly back: ReadonlySet<Element>;
}

/**
 * Finds the footnotes in a node: elements that a raised link leads to and that link back to it, as Pandoc, GitHub, Hugo, Sphinx and MediaWiki
 * write them. A footnote's label is the text of the link, without brackets.
 */
export function footnotesIn(top: AnyNode): Footnotes {
  const links = [...elementsNamed(top, LINK)].filter(({ attribs }) => attribs.href?.startsWith('#'));
  const references = new Map<string, Reference>();
  for (const link of links) {
    const id = isReference(link) ? idOf(link) : undefined;
    if (id !== undefined) references.set(id, { link, note: targetOf(link) });
  }
  const footnotes = {
    references: new Map<Element, string>(),
    notes: new Map<Element, string>(),
    back: new Set<Element>(),
  };
  const taken = new Map<string, number>();
  for (const link of links) {
    const reference = references.get(targetOf(link));
    const note = reference === undefined ? undefined : noteAround(link, reference.note);
    if (reference === undefined || note === undefined) continue;
    const label = footnotes.notes.get(note) ?? newLabel(textOf(reference.link), taken);
    footnotes.notes.set(note, label);
    footnotes.references.set(reference.link, label);
    footnotes.back.add(link);
  }
  for (const around of new Set(footnotes.back.values().map(({ parent }) => parent))) {
    if (around !== null && isElement(around) && INLINE.has(around.name) && isEmptyWithout(around, footnotes.back))
      footnotes.back.add(around);
  }
  return footnotes;
}

/** Returns whether an element has no words except in elements that are left out. */
function isEmptyWithout(element: Element, left: ReadonlySet<Element>): boolean {
  const waiting: AnyNode[] = [...element.children];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ('data' in node && /[\p{L}\p{N}]/u.test(node.data)) return false;
    if (isElement(node) && !left.has(node)) for (const child of node.children) waiting.push(child);
  }
  return true;
}

function targetOf({ attribs }: Element): string {
  return (attribs.href ?? '').slice(1);
}

function isReference(link: Element): boolean {
  const { parent } = link;
  const isRaised =
    (parent !== null && isElement(parent) && parent.name === 'sup') ||
    link.children.some((child) => isElement(child) && child.name === 'sup');
  const said = `${link.attribs.class ?? ''} ${link.attribs.role ?? ''}`;
  return (isRaised || REFERENCE.test(said)) && textOf(link).length <= MOST_SHOWN;
}

/** Returns the id of a reference: its own, or that of an inline element around it, such as `<sup>`. */
function idOf(link: Element): string | undefined {
  let at: Element = link;
  for (let up = 0; up < 3; up++) {
    if (at.attribs.id !== undefined) return at.attribs.id;
    const { parent } = at;
    if (parent === null || !isElement(parent) || !INLINE.has(parent.name)) return undefined;
    at = parent;
  }
  return undefined;
}

/** Returns the footnote with this id around a link. */
function noteAround(link: Element, id: string): Element | undefined {
  let at = link.parent;
  for (let up = 0; up < MOST_BETWEEN && at !== null && isElement(at); up++, at = at.parent) {
    if (at.attribs.id === id) return NOTES.has(at.name) ? at : undefined;
  }
  return undefined;
}

/** @param taken number of notes with each label so far */
function newLabel(shown: string, taken: Map<string, number>): string {
  const label = shown.replaceAll(/[^\p{L}\p{N}]/gu, '') || 'note';
  const times = (taken.get(label) ?? 0) + 1;
  taken.set(label, times);
  return times === 1 ? label : `${label}-${times}`;
}
