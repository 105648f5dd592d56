import type { ChildNode, Element, ParentNode } from 'domhandler';
import { parseDocument } from 'htmlparser2';
import { expect, test } from 'vitest';
import { evaluate } from '../../../shared/crawler/tools/xpath.ts';
import { versionsOf } from './package-files.ts';

test('fontoxpath is pinned to the version whose inside is known', () => {
  const { asked, installed } = versionsOf('fontoxpath');
  expect(asked, 'xpath.ts stands on how it compares positions: `fontoxpath` needs an exact version').toBe(installed);
});

/** A page of some hundred elements, the same each time, whose nesting and names look random. */
function page(): ParentNode {
  let state = 1;
  const below = (most: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * most);
  };
  const tree = (depth: number): string =>
    Array.from({ length: depth === 0 ? 0 : 1 + below(5) }, () => {
      const name = ['p', 'b', 'i'][below(3)];
      return `text<${name}>${tree(depth - 1)}</${name}>`;
    }).join('');
  return parseDocument(`<div>${tree(6)}</div>`);
}

const ROOT = page();
const ELEMENTS = elementsIn(ROOT.children);

/** Elements in document order, each with its place there. */
function elementsIn(nodes: readonly ChildNode[]): Element[] {
  return nodes.flatMap((node) =>
    node.type === 'tag' ? [node as Element, ...elementsIn((node as Element).children)] : [],
  );
}

function isWithin(node: Element, outer: Element): boolean {
  let at = node.parent;
  while (at !== null && at !== outer) at = at.parent;
  return at === outer;
}

const isBefore = (one: Element, other: Element): boolean => ELEMENTS.indexOf(one) < ELEMENTS.indexOf(other);

// biome-ignore format: a table
test.each<[string, (found: Element) => boolean]>([
  ['//p | //b',                        ({ name }) => name !== 'i' && name !== 'div'],
  ['//b//i',                           (i) => i.name === 'i' && someElement('b', (b) => isWithin(i, b))],
  ['//p/preceding::b',                 (b) => b.name === 'b' && someElement('p', (p) => isBefore(b, p) && !isWithin(p, b))],
  ['//p/following::i',                 (i) => i.name === 'i' && someElement('p', (p) => isBefore(p, i) && !isWithin(i, p))],
  ['//i/preceding-sibling::p',         (p) => p.name === 'p' && someElement('i', (i) => i.parent === p.parent && isBefore(p, i))],
  ['//i/ancestor::b/following-sibling::*', (at) => someElement('b', (b) => b.parent === at.parent && isBefore(b, at) && someElement('i', (i) => isWithin(i, b)))],
])('%s finds each element once, in document order', (expression, isFound) => {
  const expected = ELEMENTS.filter(isFound);
  expect(expected.length).toBeGreaterThan(20);
  const found = evaluate(expression, ROOT as Element);
  expect(found.map((node) => ELEMENTS.indexOf(node as Element))).toEqual(expected.map((node) => ELEMENTS.indexOf(node)));
});

function someElement(name: string, holds: (element: Element) => boolean): boolean {
  return ELEMENTS.some((element) => element.name === name && holds(element));
}
