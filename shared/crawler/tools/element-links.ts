import type { AnyNode, Element } from 'domhandler';
import { MAX_FOUND_LINKS_LENGTH, MAX_LINK_LENGTH } from '../../task/task/page-limits.ts';
import { type LinkBase, resolveLink } from '../../task/url/url.ts';
import { linkWritten } from '../link-written.ts';
import { isElement } from './nodes.ts';
import { textOf } from './text.ts';

/** The HTML elements that are links. */
export const MAY_LINK: ReadonlySet<string> = new Set(['a', 'area', 'link']);

/** Collects links as absolute URLs, each once, within the limits of `page-limits.ts`. */
export class LinkList {
  readonly #links = new Set<string>();
  readonly #base: LinkBase;
  #length = 0;

  constructor(base: LinkBase) {
    this.#base = base;
  }

  add(written: string): void {
    if (this.#length > MAX_FOUND_LINKS_LENGTH) return;
    const href = linkWritten(written);
    const link = href === undefined ? undefined : resolveLink(href, this.#base);
    if (link === undefined || link.length > MAX_LINK_LENGTH || this.#links.has(link)) return;
    this.#length += link.length;
    if (this.#length <= MAX_FOUND_LINKS_LENGTH) this.#links.add(link);
  }

  get all(): readonly string[] {
    return [...this.#links];
  }
}

/**
 * Returns the absolute links of elements: the own link of each `<a>`, `<area>` and `<link>`, and the links inside any other element. Each
 * once, in the order of the elements, by the rules for a page's links: http and https only, without fragments and credentials, at most
 * 2,048 characters. In XML, the link of an element without `href` is its text, if it holds nothing else, as the `<link>` of a feed does.
 */
export function linksOf(nodes: readonly AnyNode[], base: LinkBase, isXml: boolean): readonly string[] {
  const links = new LinkList(base);
  // An element inside another match would otherwise be walked once for each of them.
  const seen = new Set<AnyNode>();
  const waiting = nodes.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    const written = isElement(node) ? writtenLink(node, isXml) : undefined;
    if (written !== undefined) links.add(written);
    if (!('children' in node) || written !== undefined) continue;
    for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as AnyNode);
  }
  return links.all;
}

function writtenLink(element: Element, isXml: boolean): string | undefined {
  if (!isXml) return MAY_LINK.has(element.name) ? element.attribs.href : undefined;
  const { href } = element.attribs;
  if (href !== undefined) return href;
  const text = element.children.some(isElement) ? '' : textOf(element);
  return /^https?:/i.test(text) ? text : undefined;
}
