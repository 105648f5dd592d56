import type { AnyNode, Element } from 'domhandler';
import { isElement } from '../tools/nodes.ts';
import { isLine } from '../tools/text.ts';

/** Elements without text for readers. */
export const UNREAD: ReadonlySet<string> = new Set(
  'head script style template noscript title iframe object select option button textarea svg canvas audio video'.split(
    ' ',
  ),
);
/** Minimum characters of a block that count as prose. A shorter one is a label or a line of a menu. */
const SHORTEST_PROSE = 25;
const HEADING = /^h[1-6]$/;

/** A page's elements in document order, each after its parent, and the lengths of their texts. All lists share the same indices. */
export interface Measured {
  readonly elements: readonly Element[];
  /** Index of each element's parent; -1 for the outermost. */
  readonly parents: readonly number[];
  /** Characters of each element's own lines, without those of blocks inside it: outside links, and in links. */
  readonly texts: readonly number[];
  readonly linked: readonly number[];
}

interface Waiting {
  readonly node: AnyNode;
  readonly parent: number;
  /** Index of the block that the node's lines belong to. */
  readonly block: number;
  readonly isLink: boolean;
}

/** Measures the elements in a node, in one pass. */
export function measured(top: AnyNode): Measured {
  const found = { elements: [] as Element[], parents: [] as number[], texts: [] as number[], linked: [] as number[] };
  const waiting: Waiting[] = [{ node: top, parent: -1, block: -1, isLink: false }];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { node } = at;
    if ('data' in node) {
      const lengths = at.isLink ? found.linked : found.texts;
      if (at.block >= 0) lengths[at.block] = (lengths[at.block] as number) + lengthOf(node.data);
    } else if (!isElement(node)) push(waiting, node.children, at);
    else if (!UNREAD.has(node.name)) {
      const parent = found.elements.push(node) - 1;
      found.parents.push(at.parent);
      found.texts.push(0);
      found.linked.push(0);
      const block = at.block < 0 || isLine(node.name) ? parent : at.block;
      const isLink = at.isLink || (node.name === 'a' && node.attribs.href !== undefined);
      push(waiting, node.children, { parent, block, isLink });
    }
  }
  return found;
}

function push(waiting: Waiting[], children: readonly AnyNode[], around: Omit<Waiting, 'node'>): void {
  const { parent, block, isLink } = around;
  for (let at = children.length - 1; at >= 0; at--)
    waiting.push({ node: children[at] as AnyNode, parent, block, isLink });
}

/** Returns the length of a text with white space folded. */
function lengthOf(text: string): number {
  let length = 0;
  let wasBlank = true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isBlank = code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;
    if (!(isBlank && wasBlank)) length++;
    wasBlank = isBlank;
  }
  return wasBlank && length > 0 ? length - 1 : length;
}

/** Weighs each element's own lines: prose and code count, headings, labels and links don't. */
export function weightsOf({ elements, texts, linked }: Measured): Float64Array {
  return Float64Array.from(elements, ({ name }, at) => {
    const text = texts[at] as number;
    const links = linked[at] as number;
    if (name === 'pre') return text;
    if (HEADING.test(name) || text < SHORTEST_PROSE || links > text) return 0;
    return (text * text) / (text + links);
  });
}

/** Adds up each element's own value and those of all elements inside it. */
export function sums({ parents }: Measured, own: (at: number) => number): Float64Array {
  const all = new Float64Array(parents.length);
  for (let at = parents.length - 1; at >= 0; at--) {
    const sum = (all[at] as number) + own(at);
    const parent = parents[at] as number;
    all[at] = sum;
    if (parent >= 0) all[parent] = (all[parent] as number) + sum;
  }
  return all;
}

/** Counts the elements of some kind in each element, itself included. */
export function counts(measured: Measured, isOne: (element: Element, at: number) => boolean): Float64Array {
  return sums(measured, (at) => (isOne(measured.elements[at] as Element, at) ? 1 : 0));
}
