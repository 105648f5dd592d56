import type { AnyNode, Element } from 'domhandler';
import { isElement } from '../tools/nodes.ts';
import { isLine } from '../tools/text.ts';

const HEADING = /^h[1-6]$/;

/**
 * Returns the block to link in place of a link around blocks, which markdown doesn't have: the first heading in it, or else the first block
 * with visible content and no block inside. Undefined if there is no such block.
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

/** Returns whether a block has visible content and no block inside. */
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
