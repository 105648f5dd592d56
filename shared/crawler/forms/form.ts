import type { Element } from 'domhandler';
import { type QueryEncoder, resolveLink } from '../../task/url/url.ts';
import { encodingOf } from '../document/charset.ts';
import type { FollowedRequest } from '../followed-request.ts';
import { foldedSpace } from '../html/folded-space.ts';
import { queryEncoderOf } from '../query-encoder.ts';
import { elementsNamed } from '../tools/nodes.ts';
import {
  BUTTONS,
  type Control,
  controlOf,
  type Field,
  type FormFile,
  fieldsOf,
  NO_FILE,
  pressed,
} from './form-fields.ts';
import { baseOf, controlsIn, elementsOf, type FormPage, formAround } from './form-owners.ts';
import { multipartOf } from './multipart.ts';

/** What a field of a form is filled in with: a list for one that is sent several times, or not at all. */
export type FieldValue = string | number | FormFile | readonly (string | number | FormFile)[];
/** What a form is filled in with. A field that is undefined stays as it is. */
export type FormFields = Readonly<Record<string, FieldValue | undefined>>;

/** Fields by name, as they are sent. */
type Given = ReadonlyMap<string, readonly (string | FormFile)[]>;

const FORMS: ReadonlySet<string> = new Set(['form']);
/** Encodings of a form that are looked at: the first that is one counts. */
const MOST_ENCODINGS = 100;
/** Characters of a wrong value in a message. */
const MOST_SHOWN = 80;
const FORM_TYPE = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

/**
 * What a browser would send for a form: its fields as they are, hidden ones included, these in their place, and its first button, or
 * those that the fields name. Fields that the form doesn't have are added. Nothing if there is no such form.
 *
 * @param css of the form. Default: the first with a password field, else the first.
 * @throws Error if a field can't be filled in so
 */
export function submissionOf(page: FormPage, fieldsGiven: FormFields, css?: string): FollowedRequest | undefined {
  const given = givenIn(fieldsGiven);
  const form = formOf(page, css);
  if (form === undefined) return undefined;
  const controls = controlsOf(page, form);
  const button = buttonOf(controls, given);
  const encode = encoderOf(page, form);
  const fields: (readonly Field[])[] = [];
  const sentNames = new Set<string>();
  for (const control of controls) {
    const { name, type } = control;
    if (BUTTONS.has(type) && control !== button) continue;
    const values = given.get(name);
    if (values === undefined) fields.push(control === button ? pressed(control) : untouched(control, encode));
    else if (!sentNames.has(name)) fields.push(values.map((value): Field => [name, value]));
    sentNames.add(name);
  }
  for (const [name, values] of given)
    if (!sentNames.has(name)) fields.push(values.map((value): Field => [name, value]));
  return submissionBy(page, { form, button, fields: fields.flat(), encode });
}

/** What sites that guard against forged requests look at; the page itself isn't named, or the same search from two pages were two. */
function sentFrom(page: string, to: string): Readonly<Record<string, string>> {
  const { origin, protocol } = new URL(page);
  const isDowngrade = protocol === 'https:' && URL.parse(to)?.protocol !== 'https:';
  return { origin, ...(isDowngrade ? {} : { referer: `${origin}/` }) };
}

function givenIn(fields: FormFields): Given {
  const given = new Map<string, readonly (string | FormFile)[]>();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const values = [value].flat();
    const isOne = (each: unknown): boolean => typeof each === 'string' || typeof each === 'number' || isFile(each);
    if (!values.every(isOne)) {
      const got = String(values.find((each) => !isOne(each))).slice(0, MOST_SHOWN);
      throw new Error(
        `field ${name} of a form: expected a text, a number, a file ({ filename, text }) or a list of them, got ${got}; [] sends nothing`,
      );
    }
    given.set(
      name,
      values.map((value) => (typeof value === 'object' ? value : String(value))),
    );
  }
  return given;
}

function isFile(value: unknown): value is FormFile {
  if (typeof value !== 'object' || value === null || !('filename' in value) || !('text' in value)) return false;
  const { type } = value as Partial<FormFile>;
  const isType = type === undefined || (typeof type === 'string' && !/[\r\n]/.test(type));
  return typeof value.filename === 'string' && typeof value.text === 'string' && isType;
}

/** @param css of a form, or of what a form is in */
function formOf(page: FormPage, css: string | undefined): Element | undefined {
  if (css !== undefined) return elementsOf(page, css).flatMap((each) => [...elementsNamed(each, FORMS)])[0];
  const isPassword = (input: Element): boolean => controlOf(input)?.type === 'password';
  const ofPasswords = elementsOf(page, 'input')
    .filter(isPassword)
    .map((input) => formAround(page, input));
  return ofPasswords.find((form) => form !== undefined) ?? elementsOf(page, 'form')[0];
}

/** In the order of the page. Of radio buttons of one name only the last that is chosen. */
function controlsOf(page: FormPage, form: Element): readonly Control[] {
  const controls = controlsIn(page, form).flatMap((element) => controlOf(element) ?? []);
  const chosen = new Map(controls.filter(isChosenRadio).map((control) => [control.name, control]));
  return controls.filter((control) => !isChosenRadio(control) || chosen.get(control.name) === control);
}

/** The button that is pressed: one that the fields name, else the first. */
function buttonOf(controls: readonly Control[], given: Given): Control | undefined {
  const buttons = controls.filter(({ type }) => BUTTONS.has(type));
  const named = buttons.filter(({ name }) => given.has(name));
  const isMeant = ({ name, element }: Control): boolean =>
    given.get(name)?.includes(element.attribs.value ?? '') === true;
  return named.find(isMeant) ?? named[0] ?? buttons[0];
}

/** What a control sends that nobody touched. A hidden one of this name says in which encoding the form is. */
function untouched(control: Control, encode: QueryEncoder | undefined): readonly Field[] {
  const saysUtf8 = encode === undefined && control.type === 'hidden' && control.name.toLowerCase() === '_charset_';
  return saysUtf8 ? [[control.name, 'UTF-8']] : fieldsOf(control);
}

/** By the encoding that the form names, else the page's; nothing for UTF-8. */
function encoderOf(page: FormPage, form: Element): QueryEncoder | undefined {
  const labels = foldedSpace((form.attribs['accept-charset'] ?? '').replaceAll(',', ' ')).split(' ', MOST_ENCODINGS);
  const [named] = labels.flatMap((label) => encodingOf(label) ?? []);
  return named === undefined ? baseOf(page, form).encodeQuery : queryEncoderOf(named);
}

/** What a form sends. */
interface Sent {
  readonly form: Element;
  readonly button: Control | undefined;
  readonly fields: readonly Field[];
  readonly encode: QueryEncoder | undefined;
}

/** What is sent, and where to: a button may say otherwise than its form. */
function submissionBy(page: FormPage, { form, button, fields, encode }: Sent): FollowedRequest {
  const { formaction, formmethod, formenctype } = button?.element.attribs ?? {};
  const { action = '', method = '', enctype = '' } = form.attribs;
  const base = baseOf(page, form);
  const isPost = (formmethod ?? method).toLowerCase() === 'post';
  // The request is a text in UTF-8.
  const isSendable = encode === undefined || /^\p{ASCII}*$/u.test(JSON.stringify(fields));
  const isMultipart = isPost && isSendable && (formenctype ?? enctype).toLowerCase() === MULTIPART;
  const { type, body } = isMultipart ? multipartOf(fields) : urlencoded(fields, encode);
  const target = (formaction ?? action).trim();
  const url = URL.parse(target === '' ? page.url : (resolveLink(target, base) ?? target));
  // Whoever follows it says that it is no URL.
  if (url === null) return { url: target };
  url.hash = '';
  if (isPost) {
    const headers = { ...sentFrom(page.url, url.href), 'content-type': type };
    return { url: url.href, method: 'POST', body, headers };
  }
  url.search = '';
  return { url: `${url.href}?${body}` };
}

/** A file that nobody has chosen isn't sent. @throws Error if one was given: this type has no place for it */
function urlencoded(fields: readonly Field[], encode: QueryEncoder | undefined): { type: string; body: string } {
  const pairs: string[] = [];
  for (const [name, value] of fields) {
    if (typeof value === 'string') pairs.push(`${written(name, encode)}=${written(value, encode)}`);
    else if (value !== NO_FILE)
      throw new Error(
        `field ${name} of a form: expected a text, got a file: the form doesn't send files (${MULTIPART})`,
      );
  }
  return { type: FORM_TYPE, body: pairs.join('&') };
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

function isChosenRadio({ type, element }: Control): boolean {
  return type === 'radio' && element.attribs.checked !== undefined;
}
