import type { Element } from 'domhandler';
import type { Query } from './ancestors.ts';
import { isElement } from './nodes.ts';
import { beforeSibling } from './nth.ts';

/** Compiles a selector that can use these pseudo-classes. */
type Compile = (css: string, pseudos: Readonly<Record<string, Query<Element>>>) => Query<Element>;

/** `:has(` with one relative selector that begins with a combinator, such as `:has(+ dd a)` or `:has(> a)`. */
const HAS_RELATIVE = /:has\(\s*([+~>])\s*/gi;
/** Selectors that aren't rewritten: the brackets can be in an escape, a string or a comment, and `:scope` means the element itself. */
const UNUSUAL = /\\|\/\*|["']|:scope/i;

/**
 * Rewrites each `:has(+ a)`, `:has(~ a)` and `:has(> a)` of a selector as a pseudo-class of ours, which is added to `pseudos`. For each
 * element css-select would collect all siblings behind it, or check all elements inside it, where only its children count.
 */
export function withoutRelativesInHas(css: string, pseudos: Record<string, Query<Element>>, compile: Compile): string {
  if (UNUSUAL.test(css)) return css;
  let rewritten = css;
  // The last one first: it is the innermost.
  for (const { 0: start, 1: combinator, index } of [...css.matchAll(HAS_RELATIVE)].toReversed()) {
    const rest = rewritten.slice(index + start.length);
    const [inside, behind] = splitAtEnd(rest);
    const of = inside === undefined ? undefined : asAnElement(inside);
    if (of === undefined) continue;
    const name = `related-${Object.keys(pseudos).length}`;
    pseudos[name] = relatedTo(compile(of, { ...pseudos }), combinator);
    rewritten = `${rewritten.slice(0, index)}:${name}${behind}`;
  }
  return rewritten;
}

/** Splits a text at the bracket that closes the one before it; undefined without one. */
function splitAtEnd(text: string): readonly [inside: string | undefined, behind: string] {
  let depth = 1;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return [text.slice(0, at), text.slice(at + 1)];
  }
  return [undefined, ''];
}

/** Returns a query for elements with a relative that matches: a child, the next sibling, or any behind it. */
function relatedTo(matches: Query<Element>, combinator: string | undefined): Query<Element> {
  if (combinator === '>') return ({ children }) => children.some((child) => isElement(child) && matches(child));
  return combinator === '+' ? beforeNext(matches) : beforeSibling(matches);
}

/** Returns a selector of the relative alone: `dd a` becomes `dd:has(a)`. Undefined for a list of selectors, or nothing. */
function asAnElement(relative: string): string | undefined {
  let depth = 0;
  for (let at = 0; at < relative.length; at++) {
    const character = relative[at] ?? '';
    if ('(['.includes(character)) depth++;
    else if (')]'.includes(character)) depth--;
    else if (depth > 0) continue;
    else if (character === ',') return undefined;
    else if (/[\s+~>]/.test(character)) {
      const [first, rest] = [relative.slice(0, at), relative.slice(at).trim()];
      if (rest.includes(',') || first === '') return undefined;
      return rest === '' ? first : `${first}:has(${rest})`;
    }
  }
  return relative === '' ? undefined : relative;
}

/** Returns a query for elements whose next sibling matches. */
function beforeNext(matches: Query<Element>): Query<Element> {
  return (element) => {
    let next = element.next;
    while (next !== null && !isElement(next)) next = next.next;
    return next !== null && matches(next);
  };
}
