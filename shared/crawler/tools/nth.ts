import type { Element, ParentNode } from 'domhandler';
import { isElement } from './nodes.ts';

/**
 * `:nth-child` and its kin for css-select. Its own versions go through the siblings of every element again, which takes minutes for a list
 * of 100,000. These number a parent's children once, so the tree must not change.
 */
export const NTH: Readonly<Record<string, (element: Element, expression?: string | null) => boolean>> = {
  'nth-child': nth((element) => placeOf(element).at),
  'nth-last-child': nth((element) => placeOf(element).left),
  'nth-of-type': nth((element) => placeOf(element).atOfType),
  'nth-last-of-type': nth((element) => placeOf(element).leftOfType),
  'first-of-type': (element) => placeOf(element).atOfType === 1,
  'last-of-type': (element) => placeOf(element).leftOfType === 1,
  'only-of-type': (element) => placeOf(element).atOfType === 1 && placeOf(element).leftOfType === 1,
};

/**
 * Returns a query for elements behind a sibling that matches. Checks the siblings once, up to the first match, so the tree must not change.
 */
export function behindSibling(matches: (element: Element) => boolean): (element: Element) => boolean {
  const firsts = new WeakMap<ParentNode, number>();
  return (element) => {
    const { parent } = element;
    if (parent === null) return false;
    const first = firsts.get(parent) ?? parent.children.filter(isElement).findIndex(matches) + 1;
    firsts.set(parent, first);
    return first > 0 && first < placeOf(element).at;
  };
}

/** Returns a query for elements before a sibling that matches; like {@link behindSibling}, from the end. */
export function beforeSibling(matches: (element: Element) => boolean): (element: Element) => boolean {
  const lasts = new WeakMap<ParentNode, number>();
  return (element) => {
    const { parent } = element;
    if (parent === null) return false;
    const last = lasts.get(parent) ?? parent.children.filter(isElement).findLastIndex(matches) + 1;
    lasts.set(parent, last);
    return last > placeOf(element).at;
  };
}

/** The place of an element among its siblings, counted from 1: from the start and the end, and likewise among those of its name. */
interface Place {
  readonly at: number;
  readonly left: number;
  readonly atOfType: number;
  readonly leftOfType: number;
}

const places = new WeakMap<ParentNode, ReadonlyMap<Element, Place>>();
const NO_PLACE: Place = { at: 0, left: 0, atOfType: 0, leftOfType: 0 };

function placeOf(element: Element): Place {
  const { parent } = element;
  if (parent === null) return NO_PLACE;
  const known = places.get(parent) ?? numbered(parent);
  places.set(parent, known);
  return known.get(element) ?? NO_PLACE;
}

function numbered(parent: ParentNode): ReadonlyMap<Element, Place> {
  const elements = parent.children.filter(isElement);
  const totals = new Map<string, number>();
  const ofType = elements.map(({ name }) => {
    const count = (totals.get(name) ?? 0) + 1;
    totals.set(name, count);
    return count;
  });
  return new Map(
    elements.map((element, index) => {
      const atOfType = ofType[index] ?? 0;
      const leftOfType = (totals.get(element.name) ?? 0) - atOfType + 1;
      return [element, { at: index + 1, left: elements.length - index, atOfType, leftOfType }];
    }),
  );
}

function nth(placeIn: (element: Element) => number): (element: Element, expression?: string | null) => boolean {
  return (element, expression) => {
    const place = placeIn(element);
    const { step, offset } = formulaOf(expression ?? '');
    if (place === 0) return false;
    return step === 0 ? place === offset : (place - offset) % step === 0 && (place - offset) / step >= 0;
  };
}

interface Formula {
  readonly step: number;
  readonly offset: number;
}

const formulas = new Map<string, Formula>([
  ['odd', { step: 2, offset: 1 }],
  ['even', { step: 2, offset: 0 }],
]);

/** `An+B` (CSS Syntax, section 6). */
function formulaOf(expression: string): Formula {
  const key = expression.trim().toLowerCase();
  const known = formulas.get(key);
  if (known !== undefined) return known;
  const found = /^(?:([+-]?\d*)n(?:\s*([+-])\s*(\d+))?|([+-]?\d+))$/.exec(key);
  if (found === null) throw new Error(`expected a place such as 2, odd or 3n+1, got ${JSON.stringify(expression)}`);
  const [, step = '', sign = '', offset = '', place] = found;
  const formula =
    place === undefined
      ? { step: Number(/\d/.test(step) ? step : `${step}1`), offset: Number(`${sign}${offset}`) }
      : { step: 0, offset: Number(place) };
  if (formulas.size < 1_000) formulas.set(key, formula);
  return formula;
}
