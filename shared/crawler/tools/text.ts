import type { AnyNode } from 'domhandler';
import { foldedSpace } from '../html/folded-space.ts';
import { classesOf, LINE, tagCode } from '../html/tags.ts';
import { isElement } from './nodes.ts';

/** Their content is no text for readers. */
export const NOT_READ: ReadonlySet<string> = new Set(['script', 'style', 'template']);

/**
 * Does an element of this name begin a new line? Few names are in use, so their codes are kept, but not those of longer names, of which none
 * does: V8 has those as slices of their page, and each would keep all of its text in memory.
 */
export function isLine(name: string): boolean {
  if (name.length > LONGEST_LINE) return false;
  const known = lines.get(name);
  if (known !== undefined) return known;
  const isOne = (classesOf(tagCode(name)) & LINE) !== 0;
  if (lines.size < 1_000) lines.set(name, isOne);
  return isOne;
}
const lines = new Map<string, boolean>();
const LONGEST_LINE = 'blockquote'.length;

/**
 * The text in a node, white space folded to single spaces and trimmed. Blocks and `<br>` part words, as they do on a screen; what is
 * in `script`, `style` and `template` is left out, unless the node itself is one.
 */
export function textOf(node: AnyNode): string {
  return folded(joinedText(node, ' '));
}

/** The text in a node as it is written, all of it: of a `<script>`, say. */
export function sourceOf(node: AnyNode): string {
  return joinedText(node, '', new Set());
}

/** A text with its white space folded to single spaces, and trimmed. */
export function folded(text: string): string {
  return foldedSpace(text).trim();
}

/** The end of a block, where a space is written as well. */
const END = Symbol('end of a block');

function joinedText(top: AnyNode, between: string, left = NOT_READ): string {
  let text = '';
  const waiting: (AnyNode | typeof END)[] = [top];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node === END) text += between;
    else if ('data' in node) text += node.data;
    else if ('children' in node) {
      if (isElement(node)) {
        if (node !== top && left.has(node.name)) continue;
        if (isLine(node.name)) {
          text += between;
          waiting.push(END);
        }
      }
      for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as AnyNode);
    }
  }
  return text;
}
