import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const CHECKOUT = join(import.meta.dirname, '../../..');

/** The pages that people read, by their paths in the checkout. */
export const PAGES: readonly string[] = ['README.md', ...globSync('docs/**/*.md', { cwd: CHECKOUT })];

const FENCED = /^ *```(\w*)\n(.*?)^ *```$/gms;
/** Languages of blocks with commands and their output. */
const TYPED: ReadonlySet<string> = new Set(['', 'sh', 'text']);

export function textOf(page: string): string {
  return readFileSync(join(CHECKOUT, page), 'utf8');
}

/** A page without its blocks of code. */
export function proseOf(page: string): string {
  return textOf(page).replace(FENCED, '');
}

/** The inline code of a page. */
export function spansOf(page: string): string[] {
  return Array.from(proseOf(page).matchAll(/`([^`]+)`/g), ([, span = '']) => span);
}

/** Commands that a page shows: the lines of its blocks without comments, and its inline code. */
export function typedOn(page: string): string[] {
  const blocks = Array.from(textOf(page).matchAll(FENCED), ([, language = '', code = '']) => ({ language, code }));
  const lines = blocks.filter(({ language }) => TYPED.has(language)).flatMap(({ code }) => code.split('\n'));
  return [...lines, ...spansOf(page)].map((line) => line.replace(/\s#.*/, ''));
}

/** The JSON blocks of a page, each with one value or one value per line. */
export function jsonOn(page: string): string[] {
  return Array.from(textOf(page).matchAll(FENCED)).flatMap(([, language, code = '']) =>
    language === 'json' ? [code] : [],
  );
}
