import type { AnyNode, Element } from 'domhandler';
import { elementsNamed, isElement } from '../tools/nodes.ts';

const PRE: ReadonlySet<string> = new Set(['pre']);

/** Returns a definition list as a list of its terms, each with a list of its definitions, since markdown has no definition lists. */
export function definitionParts(list: Element): readonly (AnyNode | string)[] {
  const parts: (AnyNode | string)[] = ['<ul>'];
  let [isInTerm, isInDefinitions] = [false, false];
  const end = (): void => {
    if (isInDefinitions) parts.push('</ul>');
    if (isInTerm) parts.push('</li>');
    [isInTerm, isInDefinitions] = [false, false];
  };
  for (const child of list.children.flatMap(ungrouped)) {
    const name = isElement(child) ? child.name : '';
    if (name === 'dt') {
      end();
      parts.push('<li>');
      for (const each of contentOf(child)) parts.push(each);
      isInTerm = true;
    } else if (name === 'dd') {
      if (isInTerm && !isInDefinitions) {
        parts.push('<ul>');
        isInDefinitions = true;
      }
      parts.push('<li>');
      for (const each of contentOf(child)) parts.push(each);
      parts.push('</li>');
    }
  }
  end();
  return [...parts, '</ul>'];
}

/** Largest item number in CommonMark. */
const MOST = 999_999_999;

/**
 * Returns a list as its tags and items. It becomes several lists if its numbers aren't consecutive, since markdown counts by itself. A list
 * beside the items, not inside one, becomes part of the item before it, which is how a browser shows it.
 *
 * @param numbers receives the number of each item of an `<ol>`
 */
export function listParts(list: Element, numbers: Map<Element, number>): readonly (AnyNode | string)[] {
  if (list.name === 'ol') for (const [item, number] of numbersOf(list)) numbers.set(item, number);
  const parts: (AnyNode | string)[] = [''];
  let last: number | undefined;
  let item: Element | undefined;
  for (const child of list.children) {
    if (item !== undefined && isElement(child) && LISTS.has(child.name)) {
      if (parts.at(-1) === item) {
        parts[parts.length - 1] = tagOf(item, numbers);
        // Pushed one by one: there may be too many for the arguments of one call.
        for (const each of item.children) parts.push(each);
        parts.push('</li>');
      }
      parts.splice(-1, 0, child);
    } else if (isItem(child)) {
      const number = numbers.get(child);
      if (item === undefined) parts[0] = listTagOf(list, number);
      else if (number !== undefined && number !== (last ?? 0) + 1) parts.push('</ol>', listTagOf(list, number));
      [item, last] = [child, number];
      parts.push(child);
    } else if (!('data' in child) || child.data.trim() !== '') parts.push(child);
  }
  if (item === undefined) parts[0] = `<${list.name}>`;
  return [...parts, `</${list.name}>`];
}

const LISTS: ReadonlySet<string> = new Set(['ol', 'ul']);

function isItem(node: AnyNode): node is Element {
  return isElement(node) && node.name === 'li';
}

function listTagOf({ name }: Element, number: number | undefined): string {
  return number === undefined ? `<${name}>` : `<${name} start="${number}">`;
}

function tagOf(item: Element, numbers: ReadonlyMap<Element, number>): string {
  const number = numbers.get(item);
  return number === undefined ? '<li>' : `<li value="${number}">`;
}

/** Returns the numbers of a list's items, as a browser shows them; counted from 1 if markdown can't express them. */
function numbersOf(list: Element): ReadonlyMap<Element, number> {
  const items = list.children.filter(isItem);
  const step = list.attribs.reversed === undefined ? 1 : -1;
  let next = integerIn(list.attribs.start) ?? (step < 0 ? items.length : 1);
  const numbers = items.map((item) => {
    const number = integerIn(item.attribs.value) ?? next;
    next = number + step;
    return number;
  });
  const isKnown = numbers.every((number) => number >= 0 && number <= MOST);
  return new Map(items.map((item, at) => [item, (isKnown ? numbers[at] : undefined) ?? at + 1]));
}

function integerIn(text = ''): number | undefined {
  const number = Number.parseInt(text, 10);
  return Number.isNaN(number) ? undefined : number;
}

/** Returns the children of a `<div>` that groups a term and its definitions, or any other child itself. */
function ungrouped(child: AnyNode): readonly AnyNode[] {
  return isElement(child) && child.name === 'div' ? child.children : [child];
}

function contentOf(node: AnyNode): readonly AnyNode[] {
  return 'children' in node ? node.children : [];
}

/** Returns whether the cell after an element's own contains a `<pre>`. @param known the answers for cells so far */
export function isBeforeCode(element: Element, known: Map<Element, boolean>): boolean {
  let cell = element.parent;
  while (cell !== null && isElement(cell) && cell.name !== 'td') cell = cell.parent;
  if (cell === null || !isElement(cell)) return false;
  let found = known.get(cell);
  if (found === undefined) {
    let next = cell.next;
    while (next !== null && !isElement(next)) next = next.next;
    found = next !== null && elementsNamed(next, PRE).some(() => true);
    known.set(cell, found);
  }
  return found;
}
