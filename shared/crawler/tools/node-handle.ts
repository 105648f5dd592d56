import type { AnyNode } from 'domhandler';
import type { LinkBase } from '../../task/url/url.ts';

/** A node of a page, for the tools of a page: one of a tree, or of an outline, of which a tree is made when it is needed. */
export interface NodeHandle {
  /** An element's name; empty for anything else. */
  readonly name: string;
  /** Its text for readers; see `textOf`. */
  readonly text: string;
  /** All texts in it, as written: of a `<script>`, say. */
  readonly source: string;
  /** The node in a tree. */
  readonly node: AnyNode;
  /** An attribute, as written; in HTML, by its name in any case. */
  attribute(name: string): string | undefined;
  /** The elements in it that a selector matches, in the order of the page. Throws an Error that names an invalid selector. */
  all(css: string): readonly NodeHandle[];
  /** The first of {@link all}. */
  first(css: string): NodeHandle | undefined;
  /** The elements in it of this name, in the order of the page. */
  named(name: string): Iterable<NodeHandle>;
  /** Its links and those in it, or those of the elements that match; see `linksOf`. */
  links(css: string | undefined, base: LinkBase): readonly string[];
}
