/** A text as one line. */
function onLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/**
 * What the converter escapes of a text, and besides what CommonMark and GitHub would take for a tag, a character reference, a deletion or
 * an item of a list. A `<` or `&` at the end counts, too: what follows it may stand in the next element.
 *
 * @param own the converter's
 */
export function escapedText(text: string, own: (text: string) => string): string {
  return own(text)
    .replaceAll(/<(?=[a-z/!?]|$)/gi, '\\<')
    .replaceAll(/&(?=#?\w{1,32};|#?$)/g, '\\&')
    .replaceAll('~~', '\\~\\~')
    .replace(/^(\d{1,9})\) /, '$1\\) ');
}

/** `(address "title")`, whatever is in either: were it no end of a link, the title would be markup. */
export function targetOf(address: string, title: string | null): string {
  const escaped = address.replaceAll(/[\\<>()]/g, '\\$&');
  const written = /\s/.test(escaped) ? `<${onLine(escaped)}>` : escaped;
  if (title === null || title.trim() === '') return `(${written})`;
  return `(${written} "${onLine(title).replaceAll(/[\\"<`[\]]|&(?=#?\w{1,32};)/g, '\\$&')}")`;
}

/** What a picture shows to those who don't see it, on one line: more would be blocks of their own. */
export function altOf(alt: string | null, own: (text: string) => string): string {
  return escapedText(onLine(alt ?? ''), own);
}

/** A block of code between fences that no line of it ends. */
export function fenced(code: string, language: string): string {
  const longest = code.matchAll(/^[ \t]*(`{3,})/gm).reduce((most, [, { length } = '']) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code.replace(/\n$/, '')}\n${fence}`;
}

/** TeX that is neither tag nor link where formulas are not known: a space between these means nothing in TeX. */
export function inertTex(tex: string): string {
  return tex.replaceAll(/<(?=[a-z/!?])/gi, '< ').replaceAll('](', '] (');
}
