import type { Options } from 'css-select';
import type { AnyNode, Element } from 'domhandler';
import { compiledInSteps, type Query } from './ancestors.ts';
import { cssSelect } from './libraries.ts';
import { isElement } from './nodes.ts';
import { behindSibling, NTH } from './nth.ts';
import { withoutRelativesInHas } from './relative-has.ts';
import { WITH_TEXT } from './with-text.ts';

/**
 * Returns the elements in a node that a selector matches, in document order. The case of element and attribute names matters in XML, but
 * not in HTML. Throws an Error that names an invalid selector.
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

/** Returns a compiled selector: compiled for this node if its meaning depends on the node, otherwise from the cache. */
function queryOf(css: string, node: AnyNode, isXml: boolean): Query<Element> {
  if (node.type === 'root' ? RELATIVE.test(css) : !OF_ONE.test(css)) return compile(css, isXml, node);
  return compiled.get(`${isXml ? 'xml' : 'html'} ${css}`, () => compile(css, isXml));
}

function compile(css: string, isXml: boolean, node?: AnyNode): Query<Element> {
  const compileOne = (selector: string, given: Readonly<Record<string, Query<Element>>>): Query<Element> => {
    const pseudos = { ...given };
    const rewritten = withoutRelativesInHas(selector, pseudos, compileOne);
    return cssSelect()._compileUnsafe<AnyNode, Element>(rewritten, optionsOf(isXml, pseudos), node);
  };
  return compiledInSteps<Element>(css, {
    parentOf: ({ parent }) => (parent !== null && isElement(parent) ? parent : undefined),
    behind: behindSibling,
    answers: () => {
      const known = new WeakMap<Element, boolean>();
      return () => known;
    },
    compile: compileOne,
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

/** Runs a function that uses a selector, and names the selector in the error if it throws. */
export function named<T>(css: string, run: () => T): T {
  try {
    return run();
  } catch (error: unknown) {
    const why = error instanceof Error ? error.message : String(error);
    const mend = MENDS.find(([syntax]) => syntax.test(css))?.[1] ?? '';
    throw new Error(`Invalid selector ${JSON.stringify(css)}: ${why}${mend}`, { cause: error });
  }
}
