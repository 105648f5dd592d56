import type { AnyNode, Document, Element, ParentNode } from 'domhandler';
import { DomHandler, Parser } from 'htmlparser2';
import { MAX_TREE_DEPTH, MAX_TREE_ELEMENTS } from '../../task/task/page-limits.ts';
import type { Document as PageDocument } from '../document/document-notes.ts';
import { parse5, treeAdapter } from './libraries.ts';
import type { NodeHandle } from './node-handle.ts';
import { OutlinedPage, OutlineHandle } from './outline/handle.ts';
import { tidyTree } from './tidy/tree.ts';
import { TreeHandle } from './tree-handle.ts';

/** A page's elements and texts, and nothing else: CDATA is text. No path in it is longer than `MAX_TREE_DEPTH`, so recursing into it is safe. */
export interface Tree {
  /** The document. */
  readonly top: NodeHandle;
  /** XML: names are compared as they are written. */
  readonly isXml: boolean;
  /** The page has more than the tree holds, by the limits of `page-limits.ts`. */
  readonly isCut: boolean;
  /** What `readDocument` would find, where it was found on the way. */
  readonly document?: PageDocument | undefined;
}

/** What is submitted with a form. */
const OF_FORMS: ReadonlySet<string> = new Set(['button', 'input', 'select', 'textarea']);

/**
 * The forms of controls in pages by parse5: a form that a table or a misplaced end tag closes has further controls behind it, and only
 * a parser knows which.
 */
export const formOwners = new WeakMap<Element, Element>();

/** Thrown by what builds a tree when that is full; what has been built stays. */
class TreeFull extends Error {}

/** The tree that browsers make of HTML; with the page's URL, possibly also its document. Scripting is off: the content of `noscript` is part of the page. */
export function htmlTree(html: string, url?: string): Tree {
  const tidy = tidyTree(html, url);
  if (tidy === undefined) return untidyTree(html);
  const top = new OutlineHandle(new OutlinedPage(tidy.outline));
  return { top, isXml: false, isCut: false, document: tidy.document };
}

/** The same of a part of a page. In a declared shadow root anything may stand, a row without its table included; the tree is without it. */
export function htmlFragment(html: string): Tree {
  return untidyTree(`<body><template shadowrootmode=open>${html}`);
}

/** {@link htmlTree} of any page, by parse5. */
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
    // Nothing selects comments, and a page may have millions.
    appendChild: (parent, node) => {
      if (node.type !== 'comment') adapter.appendChild(parent, node);
    },
  };
  const { Parser: Parser5 } = parse5();
  const parser = new Parser5({ treeAdapter: bounded, scriptingEnabled: false });
  const isCut = build(() => parser.tokenizer.write(html, true));
  // Fewer elements than the deepest may have around it are not too deep.
  if (hasTemplates || elements > MAX_TREE_DEPTH) settle(root);
  return { top: new TreeHandle(root, false), isXml: false, isCut };
}

/** The tree of XML. Mistakes are forgiven: what isn't closed ends with what it is in. */
export function xmlTree(xml: string): Tree {
  return byTags(xml, { xmlMode: true }, true);
}

/** The tree of XHTML: as HTML, but any element may close itself. */
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

/** Returns `true` if the tree was full before the end of the page. */
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
 * Makes a tree by parse5 one that anything can walk: elements that are too deep become children of the deepest that isn't, a declared
 * shadow root becomes content of its host, and the content of other templates goes, since it isn't part of the page.
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

/** What stands in the tree for a child that may be a shadow root. */
function contentOfShadowRoot(node: AnyNode): readonly AnyNode[] {
  if (!isTemplate(node) || !isShadowRoot(node)) return [node];
  return node.children.flatMap((child) => (child.type === 'root' ? child.children : [child]));
}

/** What is inside a node in the order of the page, elements side by side. Each keeps its own texts. */
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
