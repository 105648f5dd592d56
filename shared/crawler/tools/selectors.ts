import type { AnyNode, Element } from 'domhandler';
import { cssSelect } from './libraries.ts';

/** Names of elements and attributes are compared as written in XML, and in any case in HTML. */
interface In {
  readonly isXml: boolean;
}

/** The elements in a node that a selector matches, in the order of the page. Throws an Error that names an invalid selector. */
export function select(css: string, node: AnyNode, { isXml }: In): readonly Element[] {
  return named(css, () => cssSelect().selectAll<AnyNode, Element>(css, node, { xmlMode: isXml }));
}

/** The first of {@link select}. */
export function selectFirst(css: string, node: AnyNode, { isXml }: In): Element | undefined {
  return named(css, () => cssSelect().selectOne<AnyNode, Element>(css, node, { xmlMode: isXml })) ?? undefined;
}

/** Does a selector match an element? */
export function matches(css: string, element: Element, { isXml }: In): boolean {
  return named(css, () => cssSelect().is<AnyNode, Element>(element, css, { xmlMode: isXml }));
}

function named<T>(css: string, run: () => T): T {
  try {
    return run();
  } catch (error: unknown) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Invalid selector ${JSON.stringify(css)}: ${why}`, { cause: error });
  }
}
