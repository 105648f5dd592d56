import type { Page } from '../page.ts';
import type { Selection } from '../tools/selection.ts';

/** What submitting a form sends. */
export interface Submission {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly fields: URLSearchParams;
}

/** What a browser sends of these types only if they are pressed or ticked, or never. */
const BUTTONS = new Set(['submit', 'image']);
const UNSENT = new Set(['button', 'reset', 'file']);

/**
 * What a browser would send for a form: its fields as they are, hidden ones included, these in their place, and its first button.
 * Fields that the form doesn't have are added.
 *
 * @param css of the form. Default: the first with a password field, else the first.
 * @throws Error if there is no such form
 */
export function submissionOf(
  page: Page,
  fieldsGiven: Readonly<Record<string, string | undefined>>,
  css?: string,
): Submission {
  const given = Object.fromEntries(
    Object.entries(fieldsGiven).filter((field): field is [string, string] => field[1] !== undefined),
  );
  const form = formOf(page, css);
  if (form === undefined) throw new Error(`there is no form${css === undefined ? '' : ` ${css}`} at ${page.url}`);
  const fields = new URLSearchParams();
  const sent = new Set<string>();
  let isPressed = false;
  for (const control of form.all('input, select, textarea, button')) {
    const name = control.attr('name') ?? '';
    if (name === '' || control.attr('disabled') !== undefined) continue;
    const type = typeOf(control);
    if (UNSENT.has(type)) continue;
    if (BUTTONS.has(type)) {
      if (isPressed || Object.hasOwn(given, name)) continue;
      isPressed = true;
    }
    if (Object.hasOwn(given, name)) {
      if (!sent.has(name)) fields.append(name, given[name] ?? '');
      sent.add(name);
      continue;
    }
    for (const value of valuesOf(control, type)) fields.append(name, value);
  }
  for (const [name, value] of Object.entries(given)) if (!sent.has(name)) fields.append(name, value);
  const method = form.attr('method')?.toUpperCase() === 'POST' ? 'POST' : 'GET';
  const url = new URL(form.attr('action') ?? '', page.url);
  url.hash = '';
  if (method === 'GET') url.search = fields.toString();
  return { url: url.href, method, fields };
}

function formOf(page: Page, css: string | undefined): Selection | undefined {
  if (css !== undefined) return page.all(css)[0];
  const forms = page.all('form');
  return forms.find((form) => form.all('input').some((input) => typeOf(input) === 'password')) ?? forms[0];
}

function typeOf(control: Selection): string {
  if (control.name === 'button') return control.attr('type')?.toLowerCase() ?? 'submit';
  return control.name === 'input' ? (control.attr('type')?.toLowerCase() ?? 'text') : control.name;
}

function valuesOf(control: Selection, type: string): readonly string[] {
  switch (type) {
    case 'checkbox':
    case 'radio':
      return control.attr('checked') === undefined ? [] : [control.attr('value') ?? 'on'];
    case 'select': {
      const options = control.all('option');
      const isMany = control.attr('multiple') !== undefined;
      const chosen = options.filter((option) => option.attr('selected') !== undefined);
      const sent = isMany ? chosen : [chosen.at(-1) ?? options[0]];
      return sent.flatMap((option) => (option === undefined ? [] : [option.attr('value') ?? option.text]));
    }
    case 'textarea':
      return [control.text];
    default:
      return [control.attr('value') ?? ''];
  }
}
