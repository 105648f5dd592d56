import type { AnyNode } from 'domhandler';
import type { LinkBase } from '../../../task/url/url.ts';
import { LinkList, MAY_LINK } from '../element-links.ts';
import type { NodeHandle } from '../node-handle.ts';
import { folded } from '../text.ts';
import { TreeHandle } from '../tree-handle.ts';
import { nodesOf } from './nodes.ts';
import { lowerCase, type Outline, type OutlineNode } from './outline.ts';
import { isForOutline, selectFirstIn, selectIn } from './selectors.ts';

/** An outline, and the nodes of its tree, which are built on first use. */
export class OutlinedPage {
  readonly outline: Outline;
  #nodes: readonly AnyNode[] | undefined;

  constructor(outline: Outline) {
    this.outline = outline;
  }

  node(at: OutlineNode): AnyNode {
    this.#nodes ??= nodesOf(this.outline);
    return this.#nodes[at] as AnyNode;
  }
}

/** A node of an outline. Falls back to the tree for selectors that the outline can't answer. */
export class OutlineHandle implements NodeHandle {
  readonly #page: OutlinedPage;
  readonly #at: OutlineNode;

  constructor(page: OutlinedPage, at: OutlineNode = 0) {
    this.#page = page;
    this.#at = at;
  }

  get name(): string {
    return this.#outline.isElement(this.#at) ? this.#outline.name(this.#at) : '';
  }

  get text(): string {
    return folded(this.#outline.text(this.#at));
  }

  get source(): string {
    return this.#outline.source(this.#at);
  }

  get node(): AnyNode {
    return this.#page.node(this.#at);
  }

  attribute(name: string): string | undefined {
    const outline = this.#outline;
    // Only attributes of SVG have ASCII capitals.
    const wanted = outline.foreign(this.#at) === undefined ? lowerCase(name) : name;
    return outline.attribute(this.#at, wanted) ?? outline.attribute(this.#at, name.toLowerCase());
  }

  all(css: string): readonly NodeHandle[] {
    if (!isForOutline(css, this.#at)) return this.#inTree.all(css);
    return selectIn(this.#outline, this.#at, css).map((at) => this.#other(at));
  }

  first(css: string): NodeHandle | undefined {
    if (!isForOutline(css, this.#at)) return this.#inTree.first(css);
    const at = selectFirstIn(this.#outline, this.#at, css);
    return at === undefined ? undefined : this.#other(at);
  }

  *named(name: string): Iterable<NodeHandle> {
    const end = this.#outline.end(this.#at);
    for (let at = this.#at; at < end; at++) if (this.#outline.name(at) === name) yield this.#other(at);
  }

  links(css: string | undefined, base: LinkBase): readonly string[] {
    if (css !== undefined && !isForOutline(css, this.#at)) return this.#inTree.links(css, base);
    const outline = this.#outline;
    const links = new LinkList(base);
    // An element inside another match would otherwise be walked once for each of them.
    const seen = new Uint8Array(outline.length);
    for (const top of css === undefined ? [this.#at] : selectIn(outline, this.#at, css)) {
      const end = outline.end(top);
      for (let at = top; at < end; at++) {
        const written = seen[at] === 0 && MAY_LINK.has(outline.name(at)) ? outline.attribute(at, 'href') : undefined;
        if (written !== undefined) links.add(written);
        // Links inside a link don't count.
        const isDone = seen[at] === 1 || written !== undefined;
        seen[at] = 1;
        if (isDone) at = outline.end(at) - 1;
      }
    }
    return links.all;
  }

  get #outline(): Outline {
    return this.#page.outline;
  }

  get #inTree(): NodeHandle {
    return new TreeHandle(this.node, false);
  }

  #other(at: OutlineNode): OutlineHandle {
    return new OutlineHandle(this.#page, at);
  }
}
