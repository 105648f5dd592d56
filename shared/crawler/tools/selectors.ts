import type { Options } from 'css-select';
import type { AnyNode, Element } from 'domhandler';
import { compiledInSteps, type Query } from './ancestors.ts';
import { withoutHas } from './has.ts';
import { cssSelect } from './libraries.ts';
import { isElement } from './nodes.ts';
import { behindSibling, NTH } from './nth.ts';
import { COUNTING, MOST_SELECTOR_STEPS, SelectorWork, withSteps } from './selector-work.ts';
import { WITH_TEXT } from './with-text.ts';

/**
 * Returns the elements in a node that a selector matches, in document order. The case of element and attribute names matters in XML, but
 * not in HTML. Throws an Error that names a selector which is invalid, or takes too much work on this page.
 */
export function select(css: string, node: AnyNode, isXml: boolean): readonly Element[] {
  return named(css, () => cssSelect().selectAll<AnyNode, Element>(queryOf(css, node, isXml), node, optionsOf(isXml)));
}

/** Returns the first of {@link select}. */
export function selectFirst(css: string, node: AnyNode, isXml: boolean): Element | undefined {
  return (
    named(css, () => cssSelect().selectOne<AnyNode, Element>(queryOf(css, node, isXml), node, optionsOf(isXml))) ??
    undefined
  );
}

/** A cache of compiled selectors: a crawler uses the same few on every page, and on every row of its lists. */
export class CompiledSelectors<T> {
  readonly #kept = new Map<string, T>();

  get(key: string, compile: () => T): T {
    let query = this.#kept.get(key);
    if (query === undefined) {
      query = compile();
      if (this.#kept.size >= MOST_COMPILED) this.#kept.clear();
      this.#kept.set(key, query);
    }
    return query;
  }
}
const MOST_COMPILED = 1_000;

const compiled = new CompiledSelectors<Query<Element>>();
/** Selectors whose meaning can depend on the node where the search begins. */
const RELATIVE = /:|^\s*[>+~|]|,\s*[>+~|]/;

/** Selectors of a single element (a name, classes, an id), so that it doesn't matter where the search begins. */
export const OF_ONE = /^[\w.#*-]+$/;

/** Selectors by names, attributes and ancestors only: without pseudo-classes and siblings. */
const BY_ANCESTORS = /^(?!\s*>)(?:[\w.#*>\s-]|,(?!\s*>)|\[[\w-]+(?:[~|^$*]?=(?:"[^"\]:]*"|[\w-]+))?\])+$/;
/** Returns whether a selector takes only few steps for each element of any page, so that they needn't be counted. */
export function isCheap(css: string): boolean {
  return BY_ANCESTORS.test(css) && !css.split(',').some(searchesAncestor);
}

/** Does a selector search an ancestor's attribute? For each element inside, that goes through the whole value, which may be megabytes long. */
function searchesAncestor(css: string): boolean {
  const at = css.search(/[*~]=/);
  return at >= 0 && /[\s>]/.test(css.slice(css.indexOf(']', at)).trimEnd());
}

/** Returns a compiled selector: compiled for this node if its meaning depends on the node, otherwise from the cache. */
function queryOf(css: string, node: AnyNode, isXml: boolean): Query<Element> {
  if (node.type === 'root' ? RELATIVE.test(css) : !OF_ONE.test(css)) return compile(css, isXml, node);
  return compiled.get(`${isXml ? 'xml' : 'html'} ${css}`, () => compile(css, isXml));
}

function compile(css: string, isXml: boolean, node?: AnyNode): Query<Element> {
  type Pseudos = Readonly<Record<string, Query<Element>>>;
  const counted = isCheap(css) ? {} : { adapter: COUNTING };
  const compileFrom = (selector: string, given: Pseudos, from: AnyNode | undefined): Query<Element> => {
    const pseudos = { ...given };
    const rewritten = withoutHas(selector, pseudos, isXml, (inside, known) => compileFrom(inside, known, undefined));
    return cssSelect()._compileUnsafe<AnyNode, Element>(rewritten, { ...optionsOf(isXml, pseudos), ...counted }, from);
  };
  return compiledInSteps<Element>(css, {
    parentOf: ({ parent }) => (parent !== null && isElement(parent) ? parent : undefined),
    behind: behindSibling,
    answers: () => {
      const known = new WeakMap<Element, boolean>();
      return () => known;
    },
    compile: (selector, pseudos) => compileFrom(selector, pseudos, node),
  });
}

/** Options with our pseudo-classes. css-select calls them with the element and the text in their brackets. */
function optionsOf(isXml: boolean, pseudos?: Readonly<Record<string, Query<Element>>>): Options<AnyNode, Element> {
  return { xmlMode: isXml, pseudos: { ...NTH, ...WITH_TEXT, ...pseudos } };
}

/** What to write in place of the syntax of Scrapy, of XPath, and of cheerio. */
const MENDS: readonly (readonly [syntax: RegExp, mend: string])[] = [
  [/::(?:text|attr)\b/, '. get(css) has the text of an element, attr(css, name) an attribute'],
  [/^\s*\.?\//, '. An XPath expression is for xpath(expression)'],
  [
    /:(?:eq|first|gt|last|lt)(?![\w-])/,
    '. all(css) is a list, of which all(css)[0] is the first and all(css).at(-1) the last',
  ],
];

/** Runs one search with a selector, and names the selector in the error if it is invalid or takes more than {@link MOST_SELECTOR_STEPS}. */
export function named<T>(css: string, search: () => T): T {
  try {
    return withSteps(search);
  } catch (error: unknown) {
    if (error instanceof SelectorWork) {
      const advice = 'The page has too many elements for it; find the outer elements first, then the rest inside each';
      throw new Error(`Selector ${JSON.stringify(css)} took more than ${MOST_SELECTOR_STEPS} steps. ${advice}`);
    }
    const why = error instanceof Error ? error.message : String(error);
    const mend = MENDS.find(([syntax]) => syntax.test(css))?.[1] ?? '';
    throw new Error(`Invalid selector ${JSON.stringify(css)}: ${why}${mend}`, { cause: error });
  }
}
