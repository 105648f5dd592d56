import type { AnyNode, Element } from 'domhandler';
import { isElement } from '../tools/nodes.ts';
import { counts, type Measured } from './measured.ts';

/** Minimum cards side by side that count as a list of other pages. */
const FEWEST_CARDS = 3;
/** Maximum weight of a card's text. */
const HEAVIEST_CARD = 400;
const HEADING = /^h[1-6]$/;
/** Elements that no card contains. */
const LONGER: ReadonlySet<string> = new Set(['pre', 'table']);

/**
 * Finds the cards in lists of other pages: each has one heading, a link to another page, and at most a few lines of text. That text is prose,
 * but not part of an article.
 */
export function cardsIn(page: Measured, weights: Float64Array): Uint8Array {
  const { elements, parents } = page;
  const headings = counts(page, isLinkedHeading);
  const longer = counts(page, ({ name }) => LONGER.has(name));
  const cards = Uint8Array.from(elements, (element, at) => {
    const isInside = element.name === 'a' || HEADING.test(element.name);
    const isShort = (weights[at] as number) < HEAVIEST_CARD && longer[at] === 0;
    return headings[at] === 1 && isShort && !isInside ? 1 : 0;
  });
  const beside = new Uint32Array(elements.length);
  for (const [at, parent] of parents.entries()) {
    if (parent >= 0 && cards[at] === 1) beside[parent] = (beside[parent] as number) + 1;
  }
  return cards.map((card, at) => ((beside[parents[at] as number] ?? 0) >= FEWEST_CARDS ? card : 0));
}

/** Returns whether an element is a heading that consists of a link to another page. */
export function isLinkedHeading(element: Element): boolean {
  if (!HEADING.test(element.name)) return false;
  const { parent } = element;
  if (parent !== null && isElement(parent) && isLinkAway(parent)) return true;
  const [only, ...others] = element.children.filter(isSeen);
  return only !== undefined && others.length === 0 && isElement(only) && isLinkAway(only);
}

function isLinkAway({ name, attribs }: Element): boolean {
  return name === 'a' && attribs.href !== undefined && !attribs.href.includes('#');
}

/** Returns whether a node is more than white space. */
export function isSeen(node: AnyNode): boolean {
  return !('data' in node) || node.data.trim() !== '';
}
