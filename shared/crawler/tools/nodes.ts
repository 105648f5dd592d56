import type { AnyNode, Element } from 'domhandler';

/** Returns whether a node is an element. `script` and `style` are elements with node types of their own. */
export function isElement(node: AnyNode): node is Element {
  return node.type === 'tag' || node.type === 'script' || node.type === 'style';
}

/** Yields all elements in a node with one of these names, the node itself included, in document order. */
export function* elementsNamed(top: AnyNode, names: ReadonlySet<string>): Generator<Element> {
  const waiting: AnyNode[] = [top];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isElement(node) && names.has(node.name)) yield node;
    if (!('children' in node)) continue;
    for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as AnyNode);
  }
}
