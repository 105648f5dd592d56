import type { Element } from 'domhandler';
import type { Query } from './ancestors.ts';
import { isElement } from './nodes.ts';
import { beforeSibling } from './nth.ts';
import { spend } from './selector-work.ts';

/** Compiles a selector that can use these pseudo-classes. */
type Compile = (css: string, pseudos: Readonly<Record<string, Query<Element>>>) => Query<Element>;

const HAS = /:has\(/gi;
/** Selectors that aren't rewritten: the brackets can be in an escape, a comment or half a string. */
const UNUSUAL = /\\|\/\*|["']/;
/** The beginning of a selector in `:has()`: `:scope` means the element itself, as does nothing in front of a combinator. */
const FROM_ELEMENT = /^\s*(?::scope(?=[\s>+~]))?\s*([>+~]?)\s*/i;

/**
 * Rewrites each `:has(…)` of a selector as a pseudo-class of ours, which is added to `pseudos`. css-select would search all elements inside
 * each element, or all siblings behind it, again: `:has(div div div)` takes half a minute on a page that nests 500 elements. Here each
 * element is checked only once, so the tree must not change.
 */
export function withoutHas(
  css: string,
  pseudos: Record<string, Query<Element>>,
  isXml: boolean,
  compile: Compile,
): string {
  if (UNUSUAL.test(withoutStrings(css))) return css;
  let rewritten = css;
  // The last one first: it is the innermost.
  for (const { 0: start, index } of [...withoutStrings(css).matchAll(HAS)].toReversed()) {
    const [inside, behind] = splitAtEnd(rewritten.slice(index + start.length));
    const relatives = inside === undefined ? [] : relativesOf(inside);
    const related = relatives.map(({ combinator, of }) => relatedTo(compile(of, { ...pseudos }), combinator, isXml));
    if (related.length === 0) continue;
    const name = `related-${Object.keys(pseudos).length}`;
    pseudos[name] = (element) => related.some((matches) => matches(element));
    rewritten = `${rewritten.slice(0, index)}:${name}${behind}`;
  }
  return rewritten;
}

/** Returns a text of the same length, in which strings hold nothing that means something in a selector. */
function withoutStrings(css: string): string {
  return css.replace(/"[^"]*"|'[^']*'/g, (string) => '_'.repeat(string.length));
}

/** Splits a text at the bracket that closes the one before it; undefined without one. */
function splitAtEnd(text: string): readonly [inside: string | undefined, behind: string] {
  const plain = withoutStrings(text);
  let depth = 1;
  for (let at = 0; at < text.length; at++) {
    if (plain[at] === '(') depth++;
    else if (plain[at] === ')' && --depth === 0) return [text.slice(0, at), text.slice(at + 1)];
  }
  return [undefined, ''];
}

/** A selector in `:has()`: the relation of an element to those that it is about, and a selector of them alone. */
interface Relative {
  readonly combinator: string;
  readonly of: string;
}

/** Splits a list of selectors in `:has()`; empty if one of them isn't understood. */
function relativesOf(list: string): readonly Relative[] {
  const relatives: Relative[] = [];
  for (const selector of unitsOf(list, /,/)) {
    const [start = '', combinator = ''] = FROM_ELEMENT.exec(selector) ?? [];
    const of = asAnElement(selector.slice(start.length).trim());
    if (of === undefined) return [];
    relatives.push({ combinator, of });
  }
  return relatives;
}

/** Splits a text at the characters outside brackets that match. */
function unitsOf(text: string, at: RegExp): readonly string[] {
  const units: string[] = [];
  let [unit, depth] = ['', 0];
  const plain = withoutStrings(text);
  for (let index = 0; index < text.length; index++) {
    const character = plain[index] ?? '';
    if ('(['.includes(character)) depth++;
    else if (')]'.includes(character)) depth--;
    if (depth === 0 && at.test(character)) {
      units.push(unit);
      unit = '';
    } else unit += text[index] ?? '';
  }
  return [...units, unit];
}

/** Returns a selector of the relative alone: `dd a` becomes `dd:has(a)`. Undefined for nothing, or where the element itself comes up. */
function asAnElement(relative: string): string | undefined {
  const first = unitsOf(relative, /[\s+~>]/)[0] ?? '';
  if (first === '' || /:scope/i.test(withoutStrings(relative))) return undefined;
  const rest = relative.slice(first.length).trim();
  return rest === '' ? first : `${first}:has(${rest})`;
}

/** Returns a query for elements with a relative that matches: one inside, a child, the next sibling, or any behind it. */
function relatedTo(matches: Query<Element>, combinator: string, isXml: boolean): Query<Element> {
  if (combinator === '') return around(matches, isXml);
  if (combinator === '>') return aroundChild(matches);
  return combinator === '+' ? beforeNext(matches) : beforeSibling(matches);
}

function aroundChild(matches: Query<Element>): Query<Element> {
  return ({ children }) => {
    spend(children.length);
    return children.some((child) => isElement(child) && matches(child));
  };
}

/** Returns a query for elements with a match inside. As everywhere, the content of a `<template>` of HTML is inside the template only. */
function around(matches: Query<Element>, isXml: boolean): Query<Element> {
  const known = new WeakMap<Element, boolean>();
  const isAround = (element: Element): boolean => {
    const answered = known.get(element);
    if (answered !== undefined) return answered;
    spend(element.children.length + 1);
    const answer = element.children.some((child) => {
      return isElement(child) && (matches(child) || ((isXml || child.name !== 'template') && isAround(child)));
    });
    known.set(element, answer);
    return answer;
  };
  return isAround;
}

/** Returns a query for elements whose next sibling matches. */
function beforeNext(matches: Query<Element>): Query<Element> {
  return (element) => {
    let { next } = element;
    for (; next !== null && !isElement(next); next = next.next) spend(1);
    return next !== null && matches(next);
  };
}
