import type { AnyNode } from 'domhandler';
import { codeIn } from '../markdown/code-block.ts';
import { isElement } from '../tools/nodes.ts';
import { folded, isLine } from '../tools/text.ts';
import { UNREAD } from './measured.ts';

/** Marks the end of a block, where a line ends too. */
const END = Symbol('end of a block');

/** Returns the text in a node, a line for each block, leaving out some elements. White space is folded, except in code. */
export function linesOf(top: AnyNode, without: ReadonlySet<AnyNode>): readonly string[] {
  const lines: string[] = [];
  let line = '';
  const endLine = (): void => {
    const text = folded(line);
    if (text !== '') lines.push(text);
    line = '';
  };
  const waiting: (AnyNode | typeof END)[] = [top];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node === END) endLine();
    else if ('data' in node) line += node.data;
    else if (!without.has(node) && !(isElement(node) && UNREAD.has(node.name))) {
      const isBlock = isElement(node) && isLine(node.name);
      if (isBlock) {
        endLine();
        waiting.push(END);
      }
      if (isElement(node) && node.name === 'pre') {
        for (const each of codeIn(node).split('\n')) if (each.trim() !== '') lines.push(each.trimEnd());
      } else for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as AnyNode);
    }
  }
  endLine();
  return lines;
}
