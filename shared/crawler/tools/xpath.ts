import { type AnyNode, type Element, Text } from 'domhandler';
import type { IDomFacade } from 'fontoxpath';
import { fontoxpath } from './libraries.ts';
import { isElement } from './nodes.ts';

/**
 * Returns the results of an XPath 3.1 expression in a node, in order. Attributes, numbers, booleans and strings become text nodes. Names are
 * compared as the page writes them, prefix included, and in lower case in HTML: `//item` finds `<item>` in any namespace, `//dc:creator`
 * finds `<dc:creator>`. Throws an Error that names an invalid expression.
 */
export function evaluate(expression: string, node: AnyNode): readonly AnyNode[] {
  const { evaluateXPath } = fontoxpath();
  let values: readonly unknown[];
  try {
    const options = { namespaceResolver: (prefix: string) => prefix, language: evaluateXPath.XPATH_3_1_LANGUAGE };
    const result: unknown = evaluateXPath(
      expression,
      wrapped(node),
      FACADE,
      null,
      evaluateXPath.ALL_RESULTS_TYPE,
      options,
    );
    values = Array.isArray(result) ? result : [result];
  } catch (error: unknown) {
    const message = error instanceof Error ? error.message : String(error);
    // The library's message spans several lines and marks the place; one line is enough.
    const why = /\bX\w{3}\d{4}: .*/.exec(message)?.[0] ?? message;
    throw new Error(`Invalid XPath ${JSON.stringify(expression)}: ${why}`, { cause: error });
  }
  return values.map((value) => {
    if (value instanceof XPathNode) return value.node;
    return new Text(value instanceof XPathAttribute ? value.value : String(value));
  });
}

const ELEMENT = 1;
const ATTRIBUTE = 2;
const TEXT = 3;
const DOCUMENT = 9;

/** A node with the DOM properties that XPath needs. Each node has exactly one, since they are compared by identity. */
class XPathNode {
  readonly node: AnyNode;
  readonly nodeType: number;
  readonly nodeName: string;
  readonly localName: string;
  readonly prefix: string | null;
  readonly namespaceURI: string | null;
  /** Set on first use, like `children`. */
  attributes: readonly XPathAttribute[] | undefined;
  children: XPathNode[] | undefined;
  /** Index among the children of its parent; set once those are listed. */
  at = 0;
  /** Its children that are elements, by local name. */
  named: Map<string, XPathNode[]> | undefined;

  constructor(node: AnyNode) {
    const name = isElement(node) ? node.name : '';
    this.node = node;
    this.nodeType = isElement(node) ? ELEMENT : node.type === 'root' ? DOCUMENT : TEXT;
    this.nodeName = name;
    const { localName, prefix } = partsOf(name);
    this.localName = localName;
    this.prefix = prefix;
    this.namespaceURI = prefix;
  }

  get data(): string {
    return 'data' in this.node ? this.node.data : '';
  }
}

class XPathAttribute {
  readonly nodeType = ATTRIBUTE;
  readonly ownerElement: XPathNode;
  readonly name: string;
  readonly nodeName: string;
  readonly value: string;
  readonly localName: string;
  readonly prefix: string | null;
  readonly namespaceURI: string | null;

  constructor(ownerElement: XPathNode, name: string, value: string) {
    this.ownerElement = ownerElement;
    this.name = name;
    this.nodeName = name;
    this.value = value;
    const { localName, prefix } = partsOf(name);
    this.localName = localName;
    this.prefix = prefix;
    this.namespaceURI = prefix;
  }
}

/** Splits a name. Its prefix doubles as its namespace. */
function partsOf(name: string): { readonly localName: string; readonly prefix: string | null } {
  const colon = name.indexOf(':');
  return colon < 0
    ? { localName: name, prefix: null }
    : { localName: name.slice(colon + 1), prefix: name.slice(0, colon) };
}

const wrappers = new WeakMap<AnyNode, XPathNode>();

function wrapped(node: AnyNode): XPathNode {
  const known = wrappers.get(node);
  if (known !== undefined) return known;
  const made = new XPathNode(node);
  wrappers.set(node, made);
  return made;
}

function attributesOf(of: XPathNode): readonly XPathAttribute[] {
  of.attributes ??= isElement(of.node)
    ? Object.entries(of.node.attribs).map(([name, value]) => new XPathAttribute(of, name, value))
    : [];
  return of.attributes;
}

/** Returns a node's children, the same list each time: the library needs it whenever it compares the positions of two nodes. */
function childrenOf(of: XPathNode): XPathNode[] {
  if (of.children === undefined) {
    of.children = 'children' in of.node ? of.node.children.map(wrapped) : [];
    for (const [index, child] of of.children.entries()) child.at = index;
  }
  return of.children;
}

/** Start of the library's hint that it looks only for elements of a local name. */
const NAMED = 'name-';

/**
 * Returns the sibling in front of a node (-1) or behind it (1): with a hint, the nearest of that name. Without using it, each element of a
 * long list would walk past all others to see that `following-sibling::h2` is not there.
 */
function siblingOf(from: XPathNode, step: -1 | 1, hint: string | null | undefined): XPathNode | null {
  const parent = from.node.parent && wrapped(from.node.parent);
  if (parent === null) return null;
  const children = childrenOf(parent);
  if (!hint?.startsWith(NAMED)) return children[from.at + step] ?? null;
  parent.named ??= Map.groupBy(children, ({ localName }) => localName);
  const named = parent.named.get(hint.slice(NAMED.length)) ?? [];
  // The number of those in front of the node.
  let [low, high] = [0, named.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((named[middle]?.at ?? 0) < from.at) low = middle + 1;
    else high = middle;
  }
  if (step < 0) return named[low - 1] ?? null;
  return (named[low] === from ? named[low + 1] : named[low]) ?? null;
}

function facade(): IDomFacade {
  const of = (node: unknown): XPathNode => node as XPathNode;
  const or = (node: AnyNode | null | undefined) => (node === null || node === undefined ? null : wrapped(node));
  const methods = {
    getAllAttributes: (node: unknown) => [...attributesOf(of(node))],
    getAttribute: (node: unknown, name: string) => (of(node).node as Element).attribs[name] ?? null,
    getChildNodes: (node: unknown) => childrenOf(of(node)),
    getData: (node: unknown) => (node instanceof XPathAttribute ? node.value : of(node).data),
    getFirstChild: (node: unknown) => childrenOf(of(node))[0] ?? null,
    getLastChild: (node: unknown) => childrenOf(of(node)).at(-1) ?? null,
    getNextSibling: (node: unknown, hint?: string | null) => siblingOf(of(node), 1, hint),
    getPreviousSibling: (node: unknown, hint?: string | null) => siblingOf(of(node), -1, hint),
    getParentNode: (node: unknown) => (node instanceof XPathAttribute ? node.ownerElement : or(of(node).node.parent)),
  };
  return methods as unknown as IDomFacade;
}

const FACADE = facade();
