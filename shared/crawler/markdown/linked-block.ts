import type { AnyNode, Element } from 'domhandler';
import { isElement } from '../tools/nodes.ts';
import { isLine } from '../tools/text.ts';

const HEADING = /^h[1-6]$/;

/**
 * The block that is linked in place of a link around several, which markdown can't have: the first heading in it, or else the first
 * block with something to see and no block inside. Nothing if there is no block in it.
 */
export function linkedBlock(link: Element): Element | undefined {
  let first: Element | undefined;
  const waiting: AnyNode[] = link.children.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!isElement(node)) continue;
    if (HEADING.test(node.name)) return node;
    if (isBlock(node) && first === undefined && isInnermost(node)) first = node;
    for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as AnyNode);
  }
  return first;
}

function isBlock({ name }: Element): boolean {
  return isLine(name) && name !== 'br';
}

/** Has something to see, and no block inside? */
function isInnermost(block: Element): boolean {
  let isSeen = false;
  const waiting: AnyNode[] = [...block.children];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isElement(node)) {
      if (isBlock(node)) return false;
      isSeen ||= node.name === 'img';
      for (const child of node.children) waiting.push(child);
    } else if ('data' in node) isSeen ||= node.data.trim() !== '';
  }
  return isSeen;
}
