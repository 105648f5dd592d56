import {
  type DefaultTreeAdapterMap,
  type DefaultTreeAdapterTypes,
  defaultTreeAdapter,
  InsertionMode,
  html as names,
  Parser,
  type ParserOptions,
} from 'parse5';
import { MAX_BASE_LENGTH, MAX_TITLE_LENGTH } from '../../shared/task/task/page-limits.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** What `shared/crawler/document/document.ts` should read from a page, taken from the tree that parse5 builds. */
export interface TreeDocument {
  readonly title: string | null;
  /** Sorted. */
  readonly links: readonly string[];
  readonly canonical: string | null;
}

/**
 * parse5 8.1.1, except for two rules of the HTML standard: a `<select>` may hold anything (since 2025), and the search for a part of a
 * table ends at a `<template>`, too (section 13.2.4.2, "in table scope").
 */
class StandardParser extends Parser<DefaultTreeAdapterMap> {
  constructor(options?: ParserOptions<DefaultTreeAdapterMap>) {
    super(options);
    const { TABLE, TEMPLATE, TBODY, TFOOT, THEAD } = names.TAG_ID;
    const { openElements } = this;
    const isInTableScope = (wanted: readonly names.TAG_ID[]): boolean => {
      for (let at = openElements.stackTop; at >= 0; at--) {
        const [id, element] = [openElements.tagIDs[at], openElements.items[at]];
        if (id === undefined || element === undefined || !('namespaceURI' in element) || !isHtml(element)) continue;
        if (wanted.includes(id)) return true;
        if (id === TABLE || id === TEMPLATE) return false;
      }
      return false;
    };
    openElements.hasInTableScope = (id) => isInTableScope([id]);
    openElements.hasTableBodyContextInTableScope = () => isInTableScope([TBODY, TFOOT, THEAD]);
    let mode = this.insertionMode;
    Object.defineProperty(this, 'insertionMode', {
      get: () => mode,
      set: (next: InsertionMode) => {
        if (next !== InsertionMode.IN_SELECT && next !== InsertionMode.IN_SELECT_IN_TABLE) mode = next;
      },
    });
  }
}

/** Keeps a body that a frameset replaces: its links don't count, but its title, base and canonical URL do. */
const treeAdapter: typeof defaultTreeAdapter = {
  ...defaultTreeAdapter,
  detachNode: (node) => {
    if (node.nodeName !== 'body') defaultTreeAdapter.detachNode(node);
  },
};

/** Reads a page by parse5, which follows the HTML standard, and resolves its URLs by the URL Standard. */
export function readByParse5(html: string, url: string): TreeDocument {
  const options = { scriptingEnabled: false, sourceCodeLocationInfo: true, treeAdapter };
  const elements = [...elementsOf(StandardParser.parse<DefaultTreeAdapterMap>(html, options))];
  // In source order: tables and formatting elements move others around in the tree.
  const inOrder = elements.toSorted((a, b) => offsetOf(a.element) - offsetOf(b.element));
  const inPage = inOrder.filter(({ isInTemplate, element }) => !isInTemplate && isHtml(element));
  const named = (name: string) =>
    inPage.filter(({ element }) => element.tagName === name).map(({ element }) => element);
  const base = baseOf(named('base'), url);
  const links = (named('frameset').length > 0 ? [] : inOrder)
    .filter(({ element }) => element.tagName === 'a' || (element.tagName === 'area' && isHtml(element)))
    .map(({ element }) => linkOf(element, base));
  const canonicals = named('link')
    .filter((element) => words(attribute(element, 'rel')).includes('canonical'))
    .map((element) => absolute(attribute(element, 'href'), base));
  const [title] = named('title');
  return {
    title: title === undefined ? null : folded(textOf(title)).slice(0, MAX_TITLE_LENGTH) || null,
    links: [...new Set(links.filter((link) => link !== undefined))].sort(),
    canonical: canonicals.find((canonical) => canonical !== undefined) ?? null,
  };
}

interface PlacedElement {
  readonly element: Element;
  readonly isInTemplate: boolean;
}

/** All elements except those in templates without a shadow root, which are not rendered. */
function* elementsOf(root: Node): Generator<PlacedElement> {
  const stack: { readonly node: Node; readonly isInTemplate: boolean }[] = [{ node: root, isInTemplate: false }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { node, isInTemplate } = at;
    if ('tagName' in node) yield { element: node, isInTemplate };
    if ('content' in node && /^(?:open|closed)$/i.test(attribute(node, 'shadowrootmode') ?? '')) {
      stack.push({ node: node.content, isInTemplate: true });
    }
    if ('childNodes' in node) for (const child of node.childNodes) stack.push({ node: child, isInTemplate });
  }
}

function isHtml(element: Element): boolean {
  return element.namespaceURI === names.NS.HTML;
}

function offsetOf(element: Element): number {
  return element.sourceCodeLocation?.startOffset ?? 0;
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((attr) => attr.name === name && attr.prefix === undefined)?.value;
}

function linkOf(element: Element, base: string): string | undefined {
  const xlink = element.attrs.find(({ name, prefix }) => name === 'href' && prefix === 'xlink')?.value;
  const href = attribute(element, 'href') ?? (isHtml(element) ? undefined : xlink);
  return stripped(href).startsWith('#') ? undefined : absolute(href, base);
}

function baseOf(bases: readonly Element[], url: string): string {
  const href = bases.map((element) => attribute(element, 'href')).find((value) => value !== undefined);
  const base = href === undefined ? null : URL.parse(href, url);
  const isUsable = base !== null && /^https?:$/.test(base.protocol) && base.username + base.password === '';
  return isUsable && base.href.length <= MAX_BASE_LENGTH ? base.href : url;
}

function absolute(href: string | undefined, base: string): string | undefined {
  if (stripped(href) === '') return undefined;
  const url = URL.parse(href ?? '', base);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  url.hash = '';
  [url.username, url.password] = ['', ''];
  return url.href;
}

/** Strips the characters that the URL Standard strips from both ends. */
function stripped(text = ''): string {
  return text.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '');
}

function textOf(element: Element): string {
  return element.childNodes.map((node) => ('value' in node ? node.value : '')).join('');
}

function folded(text: string): string {
  return text.replaceAll(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}

function words(list: string | undefined): readonly string[] {
  return (list ?? '').toLowerCase().split(/[\t\n\f\r ]+/);
}
