import type { Options } from 'css-select';
import type { AnyNode, Element } from 'domhandler';
import { compiledInSteps, type Query } from './ancestors.ts';
import { cssSelect } from './libraries.ts';
import { isElement } from './nodes.ts';
import { behindSibling, NTH } from './nth.ts';

/**
 * The elements in a node that a selector matches, in the order of the page. Names of elements and attributes are compared as written in
 * XML, and in any case in HTML. Throws an Error that names an invalid selector.
 */
export function select(css: string, node: AnyNode, isXml: boolean): readonly Element[] {
  return named(css, () => cssSelect().selectAll<AnyNode, Element>(queryOf(css, node, isXml), node, optionsOf(isXml)));
}

/** The first of {@link select}. */
export function selectFirst(css: string, node: AnyNode, isXml: boolean): Element | undefined {
  return (
    named(css, () => cssSelect().selectOne<AnyNode, Element>(queryOf(css, node, isXml), node, optionsOf(isXml))) ??
    undefined
  );
}

/** Selectors, compiled: a crawler asks every page, and every row of its lists, for the same few. */
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
/** Their meaning may depend on where they are looked for. */
const RELATIVE = /:|^\s*[>+~|]|,\s*[>+~|]/;

/** Of one element alone, so that it doesn't matter where the search begins: a name, classes, an id. */
export const OF_ONE = /^[\w.#*-]+$/;

/** What css-select is to look for: compiled for the node where the meaning depends on it, and else as compiled before. */
function queryOf(css: string, node: AnyNode, isXml: boolean): Query<Element> {
  if (node.type === 'root' ? RELATIVE.test(css) : !OF_ONE.test(css)) return compile(css, isXml, node);
  return compiled.get(`${isXml ? 'xml' : 'html'} ${css}`, () => compile(css, isXml));
}

function compile(css: string, isXml: boolean, node?: AnyNode): Query<Element> {
  return compiledInSteps<Element>(css, {
    parentOf: ({ parent }) => (parent !== null && isElement(parent) ? parent : undefined),
    behind: behindSibling,
    answers: () => {
      const known = new WeakMap<Element, boolean>();
      return () => known;
    },
    compile: (selector, pseudos) =>
      cssSelect()._compileUnsafe<AnyNode, Element>(selector, optionsOf(isXml, pseudos), node),
  });
}

/** css-select gives a pseudo-class of ours the element and what is in its brackets. */
function optionsOf(isXml: boolean, pseudos?: Readonly<Record<string, Query<Element>>>): Options<AnyNode, Element> {
  return { xmlMode: isXml, pseudos: { ...NTH, ...pseudos } };
}

/** Runs what takes a selector, which its error names. */
export function named<T>(css: string, run: () => T): T {
  try {
    return run();
  } catch (error: unknown) {
    const why = error instanceof Error ? error.message : String(error);
    // As in Scrapy.
    const mend = /::(?:text|attr)\b/.test(css)
      ? '. get(css) has the text of an element, attr(css, name) an attribute'
      : '';
    throw new Error(`Invalid selector ${JSON.stringify(css)}: ${why}${mend}`, { cause: error });
  }
}
