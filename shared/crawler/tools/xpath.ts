import { type AnyNode, type Element, Text } from 'domhandler';
import type { IDomFacade } from 'fontoxpath';
import { fontoxpath } from './libraries.ts';
import { isElement } from './nodes.ts';

/**
 * Returns the results of an XPath 3.1 expression in a node, in order. Attributes, numbers, booleans and strings become text nodes. Names are
 * compared as the page writes them, prefix included, and in lower case in HTML: `//item` finds `<item>` in any namespace, `//dc:creator`
 * finds `<dc:creator>`. Throws an Error that names an expression which is invalid, or takes too much work on this page.
 */
export function evaluate(expression: string, node: AnyNode): readonly AnyNode[] {
  const { evaluateXPath } = fontoxpath();
  let values: readonly unknown[];
  work.left = MOST_WORK;
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
    if (work.left < 0) {
      const advice = 'The page has too many elements for it; a CSS selector takes less';
      throw new Error(`XPath ${JSON.stringify(expression)} took more than ${MOST_WORK} steps. ${advice}`);
    }
    const message = error instanceof Error ? error.message : String(error);
    // The library's message spans several lines and marks the place; one line is enough.
    const why = /\bX\w{3}\d{4}: .*/.exec(message)?.[0] ?? message;
    throw new Error(`Invalid XPath ${JSON.stringify(expression)}: ${why}`, { cause: error });
  } finally {
    // Or the page's tree would stay in memory.
    walks.forget();
  }
  return values.map((value) => {
    if (value instanceof XPathNode) return value.node;
    return new Text(value instanceof XPathAttribute ? value.value : String(value));
  });
}

/**
 * Maximum steps from node to node in one evaluation, which take some seconds, or twenty if it compares tens of thousands of lists.
 * `//p/following-sibling::p` takes some for each pair of siblings.
 */
const MOST_WORK = 30_000_000;
/** The cost of a step to a sibling: the library may keep each in a list. */
const SIBLING_STEPS = 4;

/** What the evaluation in progress may still do. */
const work = { left: 0 };

function spend(steps: number): void {
  work.left -= steps;
  if (work.left < 0) throw new Error('too much work');
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
  parent: XPathNode | null | undefined;
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

function parentOf(of: XPathNode | XPathAttribute): XPathNode | null {
  if (of instanceof XPathAttribute) return of.ownerElement;
  if (of.parent === undefined) of.parent = of.node.parent === null ? null : wrapped(of.node.parent);
  return of.parent;
}

/**
 * Two children of one node, in order, in place of all its children. To compare the positions of two nodes, the library walks from each to the
 * root, and then through the children of the node where the ways meet. It is the only place where it reads a list of children by index:
 * elsewhere it calls these methods. A list of 30,000 rows took minutes.
 */
class TwoChildren extends Array<XPathNode> {
  readonly #all: readonly XPathNode[];

  constructor(first: XPathNode, second: XPathNode, all: readonly XPathNode[]) {
    super(first, second);
    this.#all = all;
  }

  override forEach(use: (child: XPathNode, at: number, all: XPathNode[]) => void): void {
    [...this.#all].forEach(use);
  }

  override map<T>(make: (child: XPathNode, at: number, all: XPathNode[]) => T): T[] {
    return [...this.#all].map(make);
  }

  override filter(isKept: (child: XPathNode, at: number, all: XPathNode[]) => unknown): XPathNode[] {
    return [...this.#all].filter(isKept);
  }
}

/** The nodes from which the library has walked to the root last. */
class Walks {
  #last: XPathNode | XPathAttribute | undefined;
  #before: XPathNode | XPathAttribute | undefined;
  #from: XPathNode | XPathAttribute | undefined;
  #next: XPathNode | null | undefined;

  note(node: XPathNode | XPathAttribute, parent: XPathNode | null): void {
    if (node !== this.#next) this.#from = node;
    this.#next = parent;
    if (parent !== null) return;
    [this.#before, this.#last] = [this.#last, this.#from];
  }

  forget(): void {
    this.#last = undefined;
    this.#before = undefined;
    this.#from = undefined;
    this.#next = undefined;
  }

  /** Returns the children of a node by which the last two walks came, or all children if they came by the same one, or past it. */
  childrenOf(of: XPathNode): XPathNode[] {
    const all = childrenOf(of);
    const [one, other] = [childToward(this.#before, of), childToward(this.#last, of)];
    if (one === undefined || other === undefined || one === other) return all;
    return one.at < other.at ? new TwoChildren(one, other, all) : new TwoChildren(other, one, all);
  }
}

/** Returns the child of `of` that is, or contains, a node. */
function childToward(node: XPathNode | XPathAttribute | undefined, of: XPathNode): XPathNode | undefined {
  let at = node instanceof XPathAttribute ? node.ownerElement : node;
  while (at !== undefined) {
    const parent = parentOf(at);
    if (parent === of) return at;
    at = parent ?? undefined;
  }
  return undefined;
}

const walks = new Walks();

/** Start of the library's hint that it looks only for elements of a local name. */
const NAMED = 'name-';

/**
 * Returns the sibling in front of a node (-1) or behind it (1): with a hint, the nearest of that name. Without using it, each element of a
 * long list would walk past all others to see that `following-sibling::h2` is not there.
 */
function siblingOf(from: XPathNode, step: -1 | 1, hint: string | null | undefined): XPathNode | null {
  const parent = parentOf(from);
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
  const methods = {
    getAllAttributes: (node: unknown) => [...attributesOf(of(node))],
    getAttribute: (node: unknown, name: string) => (of(node).node as Element).attribs[name] ?? null,
    getChildNodes: (node: unknown) => {
      const children = walks.childrenOf(of(node));
      spend(children.length);
      return children;
    },
    getData: (node: unknown) => (node instanceof XPathAttribute ? node.value : of(node).data),
    getFirstChild: (node: unknown) => {
      spend(1);
      return childrenOf(of(node))[0] ?? null;
    },
    getLastChild: (node: unknown) => {
      walks.forget();
      return childrenOf(of(node)).at(-1) ?? null;
    },
    getNextSibling: (node: unknown, hint?: string | null) => {
      spend(SIBLING_STEPS);
      return siblingOf(of(node), 1, hint);
    },
    getPreviousSibling: (node: unknown, hint?: string | null) => {
      spend(SIBLING_STEPS);
      return siblingOf(of(node), -1, hint);
    },
    getParentNode: (node: unknown) => {
      spend(1);
      const from = node as XPathNode | XPathAttribute;
      const parent = parentOf(from);
      walks.note(from, parent);
      return parent;
    },
  };
  return methods as unknown as IDomFacade;
}

const FACADE = facade();
