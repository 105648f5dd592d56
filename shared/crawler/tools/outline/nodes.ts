import { type AnyNode, Element, type ParentNode, Text } from 'domhandler';
import { parse5, treeAdapter } from '../libraries.ts';
import type { Outline, OutlineNode } from './outline.ts';

const HTML = 'http://www.w3.org/1999/xhtml' as NonNullable<Element['namespace']>;

/** Builds the nodes of an outline, by number, in the form that libraries need. Adjacent texts become a single node. */
export function nodesOf(outline: Outline): readonly AnyNode[] {
  const nodes: AnyNode[] = [treeAdapter().adapter.createDocument()];
  for (let at = 1; at < outline.length; at++) {
    const parent = nodes[outline.parent(at)] as ParentNode;
    const node = outline.isElement(at) ? elementOf(outline, at) : new Text(outline.data(at));
    const last = parent.children.at(-1);
    if (last instanceof Text && node instanceof Text) {
      last.data += node.data;
      nodes.push(last);
    } else {
      append(parent, node);
      nodes.push(node);
    }
  }
  return nodes;
}

function elementOf(outline: Outline, node: OutlineNode): Element {
  const foreign = outline.foreign(node);
  if (foreign !== undefined) {
    type Attributes = Parameters<ReturnType<typeof treeAdapter>['adapter']['createElement']>[2];
    return treeAdapter().adapter.createElement(outline.name(node), parse5().html.NS.SVG, foreign as Attributes);
  }
  const element = new Element(outline.name(node), outline.attributes(node) as Element['attribs'], []);
  element.namespace = HTML;
  return element;
}

function append(parent: ParentNode, node: Element | Text): void {
  const children = parent.children as (Element | Text)[];
  const last = children.at(-1);
  if (last !== undefined) {
    last.next = node;
    node.prev = last;
  }
  node.parent = parent;
  children.push(node);
}
