import type { AnyNode } from 'domhandler';
import { foldedSpace } from '../html/folded-space.ts';
import { classesOf, LINE, tagCode } from '../html/tags.ts';
import { isElement } from './nodes.ts';

/** Elements whose content isn't text for readers. */
export const NOT_READ: ReadonlySet<string> = new Set(['script', 'style', 'template']);

/**
 * Returns whether an element of this name begins a new line. Caches the answer, since few names are in use. Longer names never begin a line
 * and aren't cached: V8 keeps them as slices of their page, and each would hold the page's whole text in memory.
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
 * Returns the text in a node, white space folded to single spaces and trimmed. Blocks and `<br>` separate words, as they do on a screen.
 * Leaves out `script`, `style` and `template`, unless the node itself is one.
 */
export function textOf(node: AnyNode): string {
  return folded(joinedText(node, ' '));
}

/** Returns all text in a node, as written. For a `<script>`, say. */
export function sourceOf(node: AnyNode): string {
  return joinedText(node, '', new Set());
}

/** Folds white space to single spaces and trims the text. */
export function folded(text: string): string {
  return foldedSpace(text).trim();
}

/** Marks the end of a block, where a separator is written too. */
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
