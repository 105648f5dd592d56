/** Puts a text on one line. */
function onLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/**
 * Escapes a text as the converter does, and also whatever CommonMark and GitHub would read as a tag, a character reference, a deletion or a
 * list item. That includes a `<` or `&` at the end, since the text that completes it may be in the next element.
 *
 * @param own the converter's own escaping
 */
export function escapedText(text: string, own: (text: string) => string): string {
  return own(text)
    .replaceAll(/<(?=[a-z/!?]|$)/gi, '\\<')
    .replaceAll(/&(?=#?\w{1,32};|#?$)/g, '\\&')
    .replaceAll('~~', '\\~\\~')
    .replace(/^(\d{1,9})\) /, '$1\\) ');
}

/** Returns `(address "title")`, escaped so that neither can break out of the link and turn the title into markup. */
export function targetOf(address: string, title: string | null): string {
  const escaped = address.replaceAll(/[\\<>()]/g, '\\$&');
  const written = /\s/.test(escaped) ? `<${onLine(escaped)}>` : escaped;
  if (title === null || title.trim() === '') return `(${written})`;
  return `(${written} "${onLine(title).replaceAll(/[\\"<`[\]]|&(?=#?\w{1,32};)/g, '\\$&')}")`;
}

/** Escapes the alternative text of a picture, on one line, since further lines would become blocks of their own. */
export function altOf(alt: string | null, own: (text: string) => string): string {
  return escapedText(onLine(alt ?? ''), own);
}

/** Puts code between fences longer than any in the code. */
export function fenced(code: string, language: string): string {
  const longest = code.matchAll(/^[ \t]*(`{3,})/gm).reduce((most, [, { length } = '']) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code.replace(/\n$/, '')}\n${fence}`;
}

/** Breaks up anything in TeX that would be a tag or a link where formulas aren't supported, with spaces that mean nothing in TeX. */
export function inertTex(tex: string): string {
  return tex.replaceAll(/<(?=[a-z/!?])/gi, '< ').replaceAll('](', '] (');
}
