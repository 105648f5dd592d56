import type { AnyNode } from 'domhandler';
import type { LinkBase } from '../../task/url/url.ts';
import { linksOf } from './element-links.ts';
import type { NodeHandle } from './node-handle.ts';
import { elementsNamed, isElement } from './nodes.ts';
import { select, selectFirst } from './selectors.ts';
import { sourceOf, textOf } from './text.ts';

/** A node in a tree. */
export class TreeHandle implements NodeHandle {
  readonly node: AnyNode;
  readonly #isXml: boolean;

  /** @param isXml whether the case of names matters */
  constructor(node: AnyNode, isXml: boolean) {
    this.node = node;
    this.#isXml = isXml;
  }

  get name(): string {
    return isElement(this.node) ? this.node.name : '';
  }

  get text(): string {
    return textOf(this.node);
  }

  get source(): string {
    return sourceOf(this.node);
  }

  attribute(name: string): string | undefined {
    if (!isElement(this.node)) return undefined;
    const { attribs } = this.node;
    const key = this.#isXml || Object.hasOwn(attribs, name) ? name : name.toLowerCase();
    return Object.hasOwn(attribs, key) ? attribs[key] : undefined;
  }

  all(css: string): readonly NodeHandle[] {
    return select(css, this.node, this.#isXml).map((element) => new TreeHandle(element, this.#isXml));
  }

  first(css: string): NodeHandle | undefined {
    const found = selectFirst(css, this.node, this.#isXml);
    return found === undefined ? undefined : new TreeHandle(found, this.#isXml);
  }

  *named(name: string): Iterable<NodeHandle> {
    for (const element of elementsNamed(this.node, new Set([name]))) yield new TreeHandle(element, this.#isXml);
  }

  links(css: string | undefined, base: LinkBase): readonly string[] {
    return linksOf(css === undefined ? [this.node] : select(css, this.node, this.#isXml), base, this.#isXml);
  }
}
