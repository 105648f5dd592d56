import type { Element } from 'domhandler';
import type { Query } from './ancestors.ts';
import { isElement } from './nodes.ts';
import { beforeSibling } from './nth.ts';

/** Compiles a selector that can use these pseudo-classes. */
type Compile = (css: string, pseudos: Readonly<Record<string, Query<Element>>>) => Query<Element>;

/** `:has(` with one relative selector that begins at a sibling, such as `:has(+ dd a)`. */
const HAS_SIBLING = /:has\(\s*([+~])\s*/gi;
/** Selectors that aren't rewritten: the brackets can be in an escape, a string or a comment, and `:scope` means the element itself. */
const UNUSUAL = /\\|\/\*|["']|:scope/i;

/**
 * Rewrites each `:has(+ a)` and `:has(~ a)` of a selector as a pseudo-class of ours, which is added to `pseudos`. For each element css-select
 * would collect all siblings behind it.
 */
export function withoutSiblingsInHas(css: string, pseudos: Record<string, Query<Element>>, compile: Compile): string {
  if (UNUSUAL.test(css)) return css;
  let rewritten = css;
  // The last one first: it is the innermost.
  for (const { 0: start, 1: combinator, index } of [...css.matchAll(HAS_SIBLING)].toReversed()) {
    const rest = rewritten.slice(index + start.length);
    const [inside, behind] = splitAtEnd(rest);
    const of = inside === undefined ? undefined : asAnElement(inside);
    if (of === undefined) continue;
    const name = `followed-${Object.keys(pseudos).length}`;
    const matches = compile(of, { ...pseudos });
    pseudos[name] = combinator === '+' ? beforeNext(matches) : beforeSibling(matches);
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

/** Returns a selector of the sibling alone: `dd a` becomes `dd:has(a)`. Undefined for a list of selectors, or nothing. */
function asAnElement(relative: string): string | undefined {
  let depth = 0;
  for (let at = 0; at < relative.length; at++) {
    const character = relative[at] ?? '';
    if ('(['.includes(character)) depth++;
    else if (')]'.includes(character)) depth--;
    else if (depth > 0) continue;
    else if (character === ',') return undefined;
    else if (/[\s+~>]/.test(character)) {
      const [sibling, rest] = [relative.slice(0, at), relative.slice(at).trim()];
      if (rest.includes(',') || sibling === '') return undefined;
      return rest === '' ? sibling : `${sibling}:has(${rest})`;
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
