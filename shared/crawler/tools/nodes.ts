import type { AnyNode, Element } from 'domhandler';

/** `script` and `style` are elements, too, of types of their own. */
export function isElement(node: AnyNode): node is Element {
  return node.type === 'tag' || node.type === 'script' || node.type === 'style';
}

/** All elements of one of these names in a node, in the order of the page. */
export function* elementsNamed(top: AnyNode, names: ReadonlySet<string>): Generator<Element> {
  const waiting: AnyNode[] = [top];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isElement(node) && names.has(node.name)) yield node;
    if (!('children' in node)) continue;
    for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as AnyNode);
  }
}
