import type { AnyNode, Element } from 'domhandler';
import { foldedSpace } from '../html/folded-space.ts';
import { elementsNamed, isElement } from '../tools/nodes.ts';
import { sourceOf } from '../tools/text.ts';

/** A file to submit with a form: its name and content. */
export interface FormFile {
  readonly filename: string;
  readonly text: string;
  /** Its media type. Default: `application/octet-stream`. */
  readonly type?: string;
}

/** A name and a value as a form sends them. */
export type Field = readonly [name: string, value: string | FormFile];

/** An element that can be submitted with a form. */
export interface Control {
  readonly element: Element;
  readonly name: string;
  /** The type of an `<input>` or a `<button>`, in lower case; for other elements, the element's name. */
  readonly type: string;
}

/** Types of controls that submit the form when pressed. */
export const BUTTONS: ReadonlySet<string> = new Set(['submit', 'image']);
/** Types of controls that are never sent. */
const UNSENT = new Set(['button', 'reset']);
/** The value that a browser sends for a file input without a file, in a form that sends files. */
export const NO_FILE: FormFile = { filename: '', text: '' };
const OPTIONS: ReadonlySet<string> = new Set(['option']);

/** Returns an element as a control; undefined if a browser wouldn't send it, because it or its `<fieldset>` is disabled, say. */
export function controlOf(element: Element): Control | undefined {
  const control = { element, name: element.attribs.name ?? '', type: typeOf(element) };
  return UNSENT.has(control.type) || isBarred(element) ? undefined : control;
}

/** Returns the fields a browser sends for an untouched control other than a button (HTML standard, "construct the entry list"). */
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

/** Returns the value of a slider: by default its middle, always within its range and on one of its steps. */
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

/** The end of a slider without a `max`. */
const MOST_OF_SLIDER = 100;
/** Significant digits of a slider's value; further ones are rounding errors. */
const MOST_DIGITS = 12;

/** Reads a number in the syntax of attributes. */
function numberOr(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : otherwise;
}

/** Returns the fields of a pressed button. */
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

/** Returns the nearest ancestor with this name. */
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

/** Returns whether a node is the fieldset's first legend, whose controls aren't disabled with the fieldset. */
function isLegendOf(fieldset: Element, inside: AnyNode): boolean {
  if (!isLegend(inside)) return false;
  if (!firstLegends.has(fieldset)) firstLegends.set(fieldset, fieldset.children.find(isLegend));
  return firstLegends.get(fieldset) === inside;
}

function isLegend(node: AnyNode): boolean {
  return isElement(node) && node.name === 'legend';
}

/** The first legend of each fieldset, cached since every control in a legend needs it. */
const firstLegends = new WeakMap<Element, AnyNode | undefined>();

/** Returns whether an option is disabled, by itself or with its group. */
function isOff({ attribs, parent }: Element): boolean {
  if (attribs.disabled !== undefined) return true;
  return parent !== null && isElement(parent) && parent.name === 'optgroup' && parent.attribs.disabled !== undefined;
}

function valueOfOption(option: Element): string {
  return option.attribs.value ?? foldedSpace(sourceOf(option), SPACE_OF_HTML).replaceAll(/^ | $/g, '');
}

const SPACE_OF_HTML = /[\t\n\f\r ]+/g;
