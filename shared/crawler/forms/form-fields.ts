import type { AnyNode, Element } from 'domhandler';
import { foldedSpace } from '../html/folded-space.ts';
import { elementsNamed, isElement } from '../tools/nodes.ts';
import { sourceOf } from '../tools/text.ts';

/** A file that a form is filled in with: its name, and what is in it. */
export interface FormFile {
  readonly filename: string;
  readonly text: string;
  /** Its media type. Default: `application/octet-stream`. */
  readonly type?: string;
}

/** A name and a value, as a form sends them. */
export type Field = readonly [name: string, value: string | FormFile];

/** An element that may be submitted with a form. */
export interface Control {
  readonly element: Element;
  readonly name: string;
  /** In lower case: that of an `<input>` or a `<button>`, else the element's name. */
  readonly type: string;
}

/** What submits its form when it is pressed. */
export const BUTTONS: ReadonlySet<string> = new Set(['submit', 'image']);
/** What is never sent. */
const UNSENT = new Set(['button', 'reset']);
/** What a browser sends for a file that nobody has chosen, in a form that sends files. */
export const NO_FILE: FormFile = { filename: '', text: '' };
const OPTIONS: ReadonlySet<string> = new Set(['option']);

/** A control; nothing if a browser wouldn't send it, as one that is disabled, or one of a disabled `<fieldset>`. */
export function controlOf(element: Element): Control | undefined {
  const control = { element, name: element.attribs.name ?? '', type: typeOf(element) };
  return UNSENT.has(control.type) || isBarred(element) ? undefined : control;
}

/** What a browser sends for a control that nobody touched, no button (HTML standard, "construct the entry list"). */
export function fieldsOf(control: Control): readonly Field[] {
  return control.name === '' ? [] : valuesOf(control).map((value) => [control.name, value]);
}

function valuesOf({ element, type }: Control): readonly (string | FormFile)[] {
  const { value = '', multiple, size = '' } = element.attribs;
  switch (type) {
    case 'checkbox':
    case 'radio':
      return element.attribs.checked === undefined ? [] : [element.attribs.value ?? 'on'];
    case 'select': {
      const options = [...elementsNamed(element, OPTIONS)];
      const chosen = options.filter((option) => option.attribs.selected !== undefined);
      if (multiple !== undefined) return chosen.filter((option) => !isOff(option)).map(valueOfOption);
      const isList = Number.parseInt(size, 10) > 1;
      const one = chosen.at(-1) ?? (isList ? undefined : options.find((option) => !isOff(option)));
      return one === undefined || isOff(one) ? [] : [valueOfOption(one)];
    }
    case 'file':
      return [NO_FILE];
    case 'textarea':
      return [sourceOf(element)];
    case 'hidden':
      return [value];
    case 'range':
      return [String(placeOfSlider(element.attribs))];
    default:
      return [value.replaceAll(/[\r\n]/g, '')];
  }
}

/** Where a slider stands: in the middle unless it says, within its ends, and on one of its steps. */
function placeOfSlider({ min, max, step, value }: Element['attribs']): number {
  const least = numberOr(min, 0);
  const most = Math.max(least, numberOr(max, MOST_OF_SLIDER));
  const place = Math.min(most, Math.max(least, numberOr(value, least + (most - least) / 2)));
  const size = numberOr(step, 1);
  if (step?.toLowerCase() === 'any' || size <= 0) return place;
  const base = numberOr(min, numberOr(value, 0));
  const steps = Math.round((place - base) / size);
  const nearest = base + steps * size;
  return Number(
    (nearest > most ? nearest - size : nearest < least ? nearest + size : nearest).toPrecision(MOST_DIGITS),
  );
}

/** Of a slider without a `max`. */
const MOST_OF_SLIDER = 100;
/** Further ones of a sum of fractions are none of the page's. */
const MOST_DIGITS = 12;

/** A number as attributes have it. */
function numberOr(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : otherwise;
}

/** What a pressed button sends. */
export function pressed({ element, name, type }: Control): readonly Field[] {
  if (type === 'image') {
    const prefix = name === '' ? '' : `${name}.`;
    return [
      [`${prefix}x`, '0'],
      [`${prefix}y`, '0'],
    ];
  }
  return name === '' ? [] : [[name, element.attribs.value ?? '']];
}

/** The nearest element of this name around a node. */
export function closest(node: AnyNode, name: string): Element | undefined {
  for (const element of around(node)) if (element.name === name) return element;
  return undefined;
}

function* around({ parent }: AnyNode): Generator<Element> {
  for (let at = parent; at !== null; at = at.parent) if (isElement(at)) yield at;
}

function typeOf({ name, attribs }: Element): string {
  const type = attribs.type?.toLowerCase() ?? '';
  if (name === 'button') return type === 'button' || type === 'reset' ? type : 'submit';
  return name !== 'input' ? name : type === '' ? 'text' : type;
}

function isBarred(element: Element): boolean {
  if (element.attribs.disabled !== undefined) return true;
  let inside: AnyNode = element;
  for (const each of around(element)) {
    if (each.name === 'datalist') return true;
    if (each.name === 'fieldset' && each.attribs.disabled !== undefined && !isLegendOf(each, inside)) return true;
    inside = each;
  }
  return false;
}

/** The first legend: what is in it isn't disabled with its fieldset. */
function isLegendOf(fieldset: Element, inside: AnyNode): boolean {
  if (!isLegend(inside)) return false;
  if (!firstLegends.has(fieldset)) firstLegends.set(fieldset, fieldset.children.find(isLegend));
  return firstLegends.get(fieldset) === inside;
}

function isLegend(node: AnyNode): boolean {
  return isElement(node) && node.name === 'legend';
}

/** By their fieldsets: each control in a legend asks for the first. */
const firstLegends = new WeakMap<Element, AnyNode | undefined>();

/** Is an option disabled, by itself or with its group? */
function isOff({ attribs, parent }: Element): boolean {
  if (attribs.disabled !== undefined) return true;
  return parent !== null && isElement(parent) && parent.name === 'optgroup' && parent.attribs.disabled !== undefined;
}

function valueOfOption(option: Element): string {
  return option.attribs.value ?? foldedSpace(sourceOf(option), SPACE_OF_HTML).replaceAll(/^ | $/g, '');
}

const SPACE_OF_HTML = /[\t\n\f\r ]+/g;
