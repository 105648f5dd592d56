import type { AnyNode } from 'domhandler';
import type { LinkBase } from '../../task/url/url.ts';

/** A node of a page, as the page's tools see it: in a tree, or in an outline, from which a tree is built when needed. */
export interface NodeHandle {
  /** The element's name; empty for any other node. */
  readonly name: string;
  /** Its text as a reader sees it; see `textOf`. */
  readonly text: string;
  /** All text in it, as written. For a `<script>`, say. */
  readonly source: string;
  /** The node in its tree. */
  readonly node: AnyNode;
  /** Returns an attribute as written. In HTML, the case of its name doesn't matter. */
  attribute(name: string): string | undefined;
  /** Returns the elements in it that a selector matches, in document order. Throws an Error that names an invalid selector. */
  all(css: string): readonly NodeHandle[];
  /** Returns the first of {@link all}. */
  first(css: string): NodeHandle | undefined;
  /** Returns the elements in it with this name, in document order. */
  named(name: string): Iterable<NodeHandle>;
  /** Returns its links and those inside it or, with a selector, the links of matching elements; see `linksOf`. */
  links(css: string | undefined, base: LinkBase): readonly string[];
}
