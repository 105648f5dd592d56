import type { AnyNode, Element } from 'domhandler';
import type { LinkBase } from '../../task/url/url.ts';
import { isElement } from '../tools/nodes.ts';
import type { PageTools } from '../tools/page-tools.ts';
import { Selection } from '../tools/selection.ts';
import { formOwners } from '../tools/tree.ts';
import { closest } from './form-fields.ts';

/** The page that a form is on. */
export type FormPage = Pick<PageTools, 'all' | 'url'>;

/** Which controls belong to which form of a page, in document order. */
interface Owners {
  readonly formOf: ReadonlyMap<Element, Element | undefined>;
  readonly controlsOf: ReadonlyMap<Element | undefined, readonly Element[]>;
  /** The base of the page's links. */
  readonly base: LinkBase;
}

/** Cached by the root of a page's tree: a page can have thousands of forms, and each looks for its controls. */
const known = new WeakMap<AnyNode, Owners>();

/** Returns the elements that can be submitted with a form. */
export function controlsIn(page: FormPage, form: Element): readonly Element[] {
  return ownersOn(page, form).controlsOf.get(form) ?? [];
}

/** Returns the form that a control belongs to; undefined if it belongs to none. */
export function formAround(page: FormPage, control: Element): Element | undefined {
  return ownersOn(page, control).formOf.get(control);
}

/** Returns the base of a form's action. */
export function baseOf(page: FormPage, form: Element): LinkBase {
  return ownersOn(page, form).base;
}

export function elementsOf(page: FormPage, css: string): readonly Element[] {
  return page.all(css).map(Selection.nodeOf).filter(isElement);
}

function ownersOn(page: FormPage, element: Element): Owners {
  const top = topOf(element);
  const before = known.get(top);
  if (before !== undefined) return before;
  const controls = elementsOf(page, 'input, select, textarea, button');
  const byId = elementsById(page, controls);
  const formOf = new Map(controls.map((control) => [control, ownerOf(control, byId)]));
  const controlsOf = Map.groupBy(controls, (control) => formOf.get(control));
  const owners = {
    formOf,
    controlsOf,
    base: Selection.baseOf(page.all('form, input, select, textarea, button')[0] as Selection),
  };
  known.set(top, owners);
  return owners;
}

/** Returns the first element with each id; empty if no control refers to a form by id. */
function elementsById(page: FormPage, controls: readonly Element[]): ReadonlyMap<string | undefined, Element> {
  const byId = new Map<string | undefined, Element>();
  if (controls.every(({ attribs }) => attribs.form === undefined)) return byId;
  for (const each of elementsOf(page, '[id]')) if (!byId.has(each.attribs.id)) byId.set(each.attribs.id, each);
  return byId;
}

/** Returns the form that a control names by id, or else the one that the parser knew to be open, or else the one around it. */
function ownerOf(control: Element, byId: ReadonlyMap<string | undefined, Element>): Element | undefined {
  const { form: id } = control.attribs;
  if (id === undefined) return formOwners.get(control) ?? closest(control, 'form');
  const named = byId.get(id);
  return named?.name === 'form' ? named : undefined;
}

function topOf(element: Element): AnyNode {
  let at: AnyNode = element;
  while (at.parent !== null) at = at.parent;
  return at;
}
