import type { Element } from 'domhandler';
import { type QueryEncoder, resolveLink } from '../../task/url/url.ts';
import type { Page } from '../page.ts';
import { elementsNamed, isElement } from '../tools/nodes.ts';
import { Selection } from '../tools/selection.ts';
import { formOwners } from '../tools/tree.ts';
import { BUTTONS, type Control, closest, controlOf, type Field, fieldsOf, pressed } from './form-fields.ts';

const FORMS: ReadonlySet<string> = new Set(['form']);

/** What submitting a form sends. */
export interface Submission {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** As `application/x-www-form-urlencoded`. */
  readonly fields: string;
}

/**
 * What a browser would send for a form: its fields as they are, hidden ones included, these in their place, and its first button, or
 * those that the fields name. Fields that the form doesn't have are added.
 *
 * @param css of the form. Default: the first with a password field, else the first.
 * @throws Error if there is no such form
 */
export function submissionOf(
  page: Page,
  fieldsGiven: Readonly<Record<string, string | undefined>>,
  css?: string,
): Submission {
  const given = new Map(
    Object.entries(fieldsGiven).filter((field): field is [string, string] => field[1] !== undefined),
  );
  const form = formOf(page, css);
  if (form === undefined) throw new Error(`there is no form${css === undefined ? '' : ` ${css}`} at ${page.url}`);
  const controls = controlsOf(page, form);
  const button = buttonOf(controls, given);
  const fields: Field[] = [];
  const sentNames = new Set<string>();
  for (const control of controls) {
    const { name, type } = control;
    if (BUTTONS.has(type) && control !== button) continue;
    const value = given.get(name);
    if (value === undefined) fields.push(...(control === button ? pressed(control) : fieldsOf(control)));
    else if (!sentNames.has(name)) fields.push([name, value]);
    sentNames.add(name);
  }
  for (const field of given) if (!sentNames.has(field[0])) fields.push(field);
  return submissionBy(page, form, button, fields);
}

/** @param css of a form, or of what a form is in */
function formOf(page: Page, css: string | undefined): Element | undefined {
  if (css !== undefined) return elementsOf(page, css).flatMap((each) => [...elementsNamed(each, FORMS)])[0];
  const isPassword = (input: Element): boolean => controlOf(input)?.type === 'password';
  const ofPasswords = elementsOf(page, 'input')
    .filter(isPassword)
    .map((input) => ownerOf(page, input));
  return ofPasswords.find((form) => form !== undefined) ?? elementsOf(page, 'form')[0];
}

/** In the order of the page. Of radio buttons of one name only the last that is chosen. */
function controlsOf(page: Page, form: Element): readonly Control[] {
  const own = elementsOf(page, 'input, select, textarea, button').filter((each) => ownerOf(page, each) === form);
  const controls = own.flatMap((element) => controlOf(element) ?? []);
  const chosen = new Map(controls.filter(isChosenRadio).map((control) => [control.name, control]));
  return controls.filter((control) => !isChosenRadio(control) || chosen.get(control.name) === control);
}

/** The form that a control belongs to: the one that it names, or that it is in, or that a parser knew to be open. */
function ownerOf(page: Page, control: Element): Element | undefined {
  const { form: id } = control.attribs;
  if (id === undefined) return formOwners.get(control) ?? closest(control, 'form');
  const named = elementsOf(page, '[id]').find((each) => each.attribs.id === id);
  return named?.name === 'form' ? named : undefined;
}

/** The button that is pressed: one that the fields name, else the first. */
function buttonOf(controls: readonly Control[], given: ReadonlyMap<string, string>): Control | undefined {
  const buttons = controls.filter(({ type }) => BUTTONS.has(type));
  const named = buttons.filter(({ name }) => given.has(name));
  const isMeant = ({ name, element }: Control): boolean => element.attribs.value === given.get(name);
  return named.find(isMeant) ?? named[0] ?? buttons[0];
}

/** What is sent, and where to: a button may say otherwise than its form. */
function submissionBy(page: Page, form: Element, button: Control | undefined, all: readonly Field[]): Submission {
  const { formaction, formmethod } = button?.element.attribs ?? {};
  const { action = '', method = '', 'accept-charset': charset = '' } = form.attribs;
  const base = Selection.baseOf(page.all('form')[0] as Selection);
  const encode = /^\s*utf-?8\b/i.test(charset) ? undefined : base.encodeQuery;
  const fields = all.map((field) => field.map((text) => written(text, encode)).join('=')).join('&');
  const isPost = (formmethod ?? method).trim().toLowerCase() === 'post';
  const target = (formaction ?? action).trim();
  const url = new URL(target === '' ? page.url : (resolveLink(target, base) ?? target));
  url.hash = '';
  if (isPost) return { url: url.href, method: 'POST', fields };
  url.search = '';
  return { url: `${url.href}?${fields}`, method: 'GET', fields };
}

/** A name or a value as `application/x-www-form-urlencoded`, in a page's own encoding if it has one. */
function written(text: string, encode: QueryEncoder | undefined): string {
  const inLines = text.replaceAll(/\r\n?|\n/g, '\r\n');
  const parts = encode === undefined ? [inLines] : inLines.split(/([^\0-\x7f]+)/);
  // Every second part has no ASCII.
  return parts
    .map((part, at) => (at % 2 === 1 ? encode?.(part) : new URLSearchParams([['', part]]).toString().slice(1)))
    .join('');
}

function elementsOf(page: Page, css: string): readonly Element[] {
  return page.all(css).map(Selection.nodeOf).filter(isElement);
}

function isChosenRadio({ type, element }: Control): boolean {
  return type === 'radio' && element.attribs.checked !== undefined;
}
