import type { Options } from 'css-select';
import type { AnyNode, Element } from 'domhandler';
import { DomUtils } from 'htmlparser2';
import { isElement } from './nodes.ts';

/**
 * Maximum steps of one search with a selector: from an element to its parent, a sibling or the next element, or past four characters of an
 * attribute. They take a second or two. An ordinary selector takes a few for each element of the page.
 */
export const MOST_SELECTOR_STEPS = 100_000_000;

/** The steps left to the search in progress. */
let left = 0;

/** Thrown by a search that has no steps left. */
export class SelectorWork extends Error {}

/** Counts steps of the search in progress. Throws {@link SelectorWork} when there are none left. */
export function spend(steps: number): void {
  left -= steps;
  if (left < 0) throw new SelectorWork(`more than ${MOST_SELECTOR_STEPS} steps`);
}

/** Runs a search, with steps of its own. */
export function withSteps<T>(search: () => T): T {
  left = MOST_SELECTOR_STEPS;
  return search();
}

/** What css-select reads a tree by, so that its steps count. It calls `isTag` for each node that it comes to. */
export const COUNTING: NonNullable<Options<AnyNode, Element>['adapter']> = {
  ...DomUtils,
  isTag: (node): node is Element => {
    spend(1);
    return isElement(node);
  },
  prevElementSibling: (node) => {
    let { prev } = node;
    for (; prev !== null && !isElement(prev); prev = prev.prev) spend(1);
    return prev;
  },
  getAttributeValue: (element, name) => {
    const value = DomUtils.getAttributeValue(element, name);
    spend(stepsPast(value));
    return value;
  },
};

/** Returns the steps that it takes to compare an attribute. */
export function stepsPast(value: string | undefined): number {
  return value === undefined ? 0 : value.length >> 2;
}
