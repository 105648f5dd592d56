import type { AnyNode, Document, Element, ParentNode } from 'domhandler';
import { DomHandler, Parser } from 'htmlparser2';
import { MAX_TREE_DEPTH, MAX_TREE_ELEMENTS } from '../../task/task/page-limits.ts';
import type { Document as PageDocument } from '../document/document-notes.ts';
import { parse5, treeAdapter } from './libraries.ts';
import type { NodeHandle } from './node-handle.ts';
import { OutlinedPage, OutlineHandle } from './outline/handle.ts';
import { tidyTree } from './tidy/tree.ts';
import { TreeHandle } from './tree-handle.ts';

/** A page's elements and texts, and nothing else; CDATA counts as text. Nests at most `MAX_TREE_DEPTH` deep, so recursion is safe. */
export interface Tree {
  /** The document. */
  readonly top: NodeHandle;
  /** Whether the page is XML, where the case of names matters. */
  readonly isXml: boolean;
  /** Whether the page has more than the tree holds, by the limits of `page-limits.ts`. */
  readonly isCut: boolean;
  /** The result of `readDocument`, if parsing the tree found it on the way. */
  readonly document?: PageDocument | undefined;
}

/** The elements that are submitted with a form. */
const OF_FORMS: ReadonlySet<string> = new Set(['button', 'input', 'select', 'textarea']);

/**
 * The forms that controls belong to, in pages parsed by parse5. After a table or a misplaced end tag has closed a form, further controls
 * can still belong to it, and only the parser knows which.
 */
export const formOwners = new WeakMap<Element, Element>();

/** Stops the building of a tree that is full. The part already built stays. */
class TreeFull extends Error {}

/**
 * Parses HTML into the tree that browsers build. With the page's URL, may also return its document. Scripting is off: the content of
 * `noscript` is part of the page.
 */
export function htmlTree(html: string, url?: string): Tree {
  const tidy = tidyTree(html, url);
  if (tidy === undefined) return untidyTree(html);
  const top = new OutlineHandle(new OutlinedPage(tidy.outline));
  return { top, isXml: false, isCut: false, document: tidy.document };
}

/**
 * Parses a part of a page. Wraps it in a declared shadow root, where anything is allowed, even a row without its table; the tree doesn't
 * have that root.
 */
export function htmlFragment(html: string): Tree {
  return untidyTree(`<body><template shadowrootmode=open>${html}`);
}

/** Parses any HTML with parse5, as the general case of {@link htmlTree}. */
export function untidyTree(html: string): Tree {
  const { adapter } = treeAdapter();
  let [elements, hasTemplates] = [0, false];
  let root: Document = adapter.createDocument();
  const bounded: typeof adapter = {
    ...adapter,
    createDocument: () => {
      root = adapter.createDocument();
      return root;
    },
    createElement: (name, namespace, attributes) => {
      if (++elements > MAX_TREE_ELEMENTS) throw new TreeFull();
      hasTemplates ||= name === 'template';
      const element = adapter.createElement(name, namespace, attributes);
      const { formElement } = parser;
      if (formElement !== null && OF_FORMS.has(name)) formOwners.set(element, formElement);
      return element;
    },
    setDocumentType: () => {},
    // Nothing selects comments, and a page can have millions.
    appendChild: (parent, node) => {
      if (node.type !== 'comment') adapter.appendChild(parent, node);
    },
  };
  const { Parser: Parser5 } = parse5();
  const parser = new Parser5({ treeAdapter: bounded, scriptingEnabled: false });
  const isCut = build(() => parser.tokenizer.write(html, true));
  // With no more elements than the depth allowed, none can be too deep.
  if (hasTemplates || elements > MAX_TREE_DEPTH) settle(root);
  return { top: new TreeHandle(root, false), isXml: false, isCut };
}

/** Parses XML. Forgives mistakes: an element that isn't closed ends with its parent. */
export function xmlTree(xml: string): Tree {
  return byTags(xml, { xmlMode: true }, true);
}

/** Parses XHTML: like HTML, but any element can be self-closing. */
export function xhtmlTree(html: string): Tree {
  return byTags(html, { recognizeSelfClosing: true, recognizeCDATA: true }, false);
}

function byTags(text: string, options: ConstructorParameters<typeof Parser>[1], isXml: boolean): Tree {
  let elements = 0;
  let depth = 0;
  const handler = new DomHandler();
  const isCut = build(() => {
    const parser = new Parser(
      {
        onparserinit: (of) => handler.onparserinit(of),
        onend: () => handler.onend(),
        ontext: (data) => handler.ontext(data),
        onopentag: (name, attributes) => {
          if (++elements > MAX_TREE_ELEMENTS || ++depth > MAX_TREE_DEPTH) throw new TreeFull();
          handler.onopentag(name, attributes);
        },
        onclosetag: () => {
          depth--;
          handler.onclosetag();
        },
      },
      options,
    );
    parser.end(text);
  });
  return { top: new TreeHandle(handler.root, isXml), isXml, isCut };
}

/** Runs a parser. Returns `true` if the tree was full before the end of the page. */
function build(parse: () => void): boolean {
  try {
    parse();
    return false;
  } catch (error: unknown) {
    if (error instanceof TreeFull) return true;
    throw error;
  }
}

/**
 * Makes a tree from parse5 safe to walk: elements that are too deep become children of the deepest ancestor allowed, a declared shadow root
 * becomes content of its host, and the content of other templates is dropped, since it isn't part of the page.
 */
function settle(root: Document): void {
  const open: { readonly node: ParentNode; readonly depth: number }[] = [{ node: root, depth: 0 }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { node, depth } = at;
    while (node.children.some(isShadowRoot)) adopt(node, node.children.flatMap(contentOfShadowRoot));
    for (const child of node.children) if (isTemplate(child)) child.children = [];
    if (depth === MAX_TREE_DEPTH) adopt(node, flattened(node));
    else for (const child of node.children) if ('children' in child) open.push({ node: child, depth: depth + 1 });
  }
}

function isTemplate(node: AnyNode): node is Element {
  return 'name' in node && node.name === 'template';
}

function isShadowRoot(node: AnyNode): boolean {
  return isTemplate(node) && /^(?:open|closed)$/i.test(node.attribs.shadowrootmode ?? '');
}

/** Returns the content of a child that is a shadow root, or else the child itself. */
function contentOfShadowRoot(node: AnyNode): readonly AnyNode[] {
  if (!isTemplate(node) || !isShadowRoot(node)) return [node];
  return node.children.flatMap((child) => (child.type === 'root' ? child.children : [child]));
}

/** Returns all elements inside a node side by side, in document order. Each keeps its own texts. */
function flattened(parent: ParentNode): AnyNode[] {
  const flat: AnyNode[] = [];
  const waiting: AnyNode[] = parent.children.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    flat.push(node);
    if (!('children' in node)) continue;
    const inside: readonly AnyNode[] = node.children;
    for (let at = inside.length - 1; at >= 0; at--) {
      const child = inside[at];
      if (child !== undefined && 'children' in child) waiting.push(child);
    }
    adopt(node, isTemplate(node) ? [] : inside.filter((child) => !('children' in child)));
  }
  return flat;
}

function adopt(parent: ParentNode, nodes: readonly AnyNode[]): void {
  const children = nodes as ParentNode['children'];
  for (const [at, node] of children.entries()) {
    node.parent = parent;
    node.prev = children[at - 1] ?? null;
    node.next = children[at + 1] ?? null;
  }
  parent.children = [...children];
}
