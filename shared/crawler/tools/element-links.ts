import type { AnyNode, Element } from 'domhandler';
import { MAX_FOUND_LINKS_LENGTH, MAX_LINK_LENGTH } from '../../task/task/page-limits.ts';
import { type LinkBase, resolveLink } from '../../task/url/url.ts';
import { linkWritten } from '../link-written.ts';
import { isElement } from './nodes.ts';
import { textOf } from './text.ts';

/** The elements of HTML that link by themselves. */
export const MAY_LINK: ReadonlySet<string> = new Set(['a', 'area', 'link']);

/** Gathers the absolute links of elements from what is written, each once. */
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
 * The absolute links of elements: of each `<a>`, `<area>` and `<link>` its own, of others those inside. Each once, in the order of the
 * elements, by the rules of a page's own links: http and https only, without fragments and credentials, 2,048 characters at most.
 * In XML, an element without `href` that holds only text, such as the `<link>` of a feed, is a link by its text.
 */
export function linksOf(nodes: readonly AnyNode[], base: LinkBase, isXml: boolean): readonly string[] {
  const links = new LinkList(base);
  // An element inside another one that was matched as well would be walked for each of them.
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
