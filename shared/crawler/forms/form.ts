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

/** The value for a form's field. A list sends the field once per value; an empty list doesn't send it. */
export type FieldValue = string | number | FormFile | readonly (string | number | FormFile)[];
/** Values for a form's fields, by name. A field that is undefined keeps the form's own value. */
export type FormFields = Readonly<Record<string, FieldValue | undefined>>;

/** Fields by name, as they are sent. */
type Given = ReadonlyMap<string, readonly (string | FormFile)[]>;

const FORMS: ReadonlySet<string> = new Set(['form']);
/** Names in `accept-charset` that are checked; the first known encoding counts. */
const MOST_ENCODINGS = 100;
/** Characters of a wrong value that a message shows. */
const MOST_SHOWN = 80;
const FORM_TYPE = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

/**
 * Returns the request that a browser would send for a form: the form's own values, hidden fields included, replaced by the given fields, and
 * its first button or the one that the fields name. Adds fields that the form doesn't have. Undefined if there is no such form.
 *
 * @param css selects the form. Default: the first with a password field, otherwise the first.
 * @throws Error if a field can't take the value given
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

/**
 * Returns the headers that sites check against forged requests. They name only the page's origin: with its full URL, the same search from
 * two pages would be two requests.
 */
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

/** @param css selects a form, or an element around one */
function formOf(page: FormPage, css: string | undefined): Element | undefined {
  if (css !== undefined) return elementsOf(page, css).flatMap((each) => [...elementsNamed(each, FORMS)])[0];
  const isPassword = (input: Element): boolean => controlOf(input)?.type === 'password';
  const ofPasswords = elementsOf(page, 'input')
    .filter(isPassword)
    .map((input) => formAround(page, input));
  return ofPasswords.find((form) => form !== undefined) ?? elementsOf(page, 'form')[0];
}

/** Returns the form's controls in document order. Of several checked radio buttons with one name, only the last is included. */
function controlsOf(page: FormPage, form: Element): readonly Control[] {
  const controls = controlsIn(page, form).flatMap((element) => controlOf(element) ?? []);
  const chosen = new Map(controls.filter(isChosenRadio).map((control) => [control.name, control]));
  return controls.filter((control) => !isChosenRadio(control) || chosen.get(control.name) === control);
}

/** Returns the button to press: one that the fields name, otherwise the first. */
function buttonOf(controls: readonly Control[], given: Given): Control | undefined {
  const buttons = controls.filter(({ type }) => BUTTONS.has(type));
  const named = buttons.filter(({ name }) => given.has(name));
  const isMeant = ({ name, element }: Control): boolean =>
    given.get(name)?.includes(element.attribs.value ?? '') === true;
  return named.find(isMeant) ?? named[0] ?? buttons[0];
}

/** Returns the fields of an untouched control. A hidden `_charset_` field names the encoding of the form. */
function untouched(control: Control, encode: QueryEncoder | undefined): readonly Field[] {
  const saysUtf8 = encode === undefined && control.type === 'hidden' && control.name.toLowerCase() === '_charset_';
  return saysUtf8 ? [[control.name, 'UTF-8']] : fieldsOf(control);
}

/** Returns the encoder for the encoding that the form names, otherwise for the page's; undefined for UTF-8. */
function encoderOf(page: FormPage, form: Element): QueryEncoder | undefined {
  const labels = foldedSpace((form.attribs['accept-charset'] ?? '').replaceAll(',', ' ')).split(' ', MOST_ENCODINGS);
  const [named] = labels.flatMap((label) => encodingOf(label) ?? []);
  return named === undefined ? baseOf(page, form).encodeQuery : queryEncoderOf(named);
}

/** A filled-in form, ready to send. */
interface Sent {
  readonly form: Element;
  readonly button: Control | undefined;
  readonly fields: readonly Field[];
  readonly encode: QueryEncoder | undefined;
}

/** Builds the request. The button's action, method and encoding override those of the form. */
function submissionBy(page: FormPage, { form, button, fields, encode }: Sent): FollowedRequest {
  const { formaction, formmethod, formenctype } = button?.element.attribs ?? {};
  const { action = '', method = '', enctype = '' } = form.attribs;
  const base = baseOf(page, form);
  const isPost = (formmethod ?? method).toLowerCase() === 'post';
  // Requests are text in UTF-8, so multipart works only if another encoding makes no difference.
  const isSendable = encode === undefined || /^\p{ASCII}*$/u.test(JSON.stringify(fields));
  const isMultipart = isPost && isSendable && (formenctype ?? enctype).toLowerCase() === MULTIPART;
  const { type, body } = isMultipart ? multipartOf(fields) : urlencoded(fields, encode);
  const target = (formaction ?? action).trim();
  const url = URL.parse(target === '' ? page.url : (resolveLink(target, base) ?? target));
  // An invalid URL is reported when it is followed.
  if (url === null) return { url: target };
  url.hash = '';
  if (isPost) {
    const headers = { ...sentFrom(page.url, url.href), 'content-type': type };
    return { url: url.href, method: 'POST', body, headers };
  }
  url.search = '';
  return { url: `${url.href}?${body}` };
}

/** Encodes fields as `application/x-www-form-urlencoded`, without empty file inputs. @throws Error for a given file, which it can't carry */
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

/** Encodes a name or a value as `application/x-www-form-urlencoded`, in the given encoding or else UTF-8. */
function written(text: string, encode: QueryEncoder | undefined): string {
  const inLines = text.replaceAll(/\r\n?|\n/g, '\r\n');
  const parts = encode === undefined ? [inLines] : inLines.split(/([^\0-\x7f]+)/);
  // Every second part is the non-ASCII text between two ASCII parts.
  return parts
    .map((part, at) => (at % 2 === 1 ? encode?.(part) : new URLSearchParams([['', part]]).toString().slice(1)))
    .join('');
}

function isChosenRadio({ type, element }: Control): boolean {
  return type === 'radio' && element.attribs.checked !== undefined;
}
