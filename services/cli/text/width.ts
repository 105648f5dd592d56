import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const PLAIN = /^[\x20-\x7e]*$/;

/** How many columns of a terminal a printable text takes. All but ASCII is left to a library that takes a while to load. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  const { default: stringWidth }: typeof import('string-width') = require('string-width');
  return stringWidth(text);
}
