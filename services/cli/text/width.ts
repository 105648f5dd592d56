import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

const PLAIN = /^[\x20-\x7e]*$/;

/** Returns the width of a printable text in terminal columns. The library for text other than ASCII loads slowly, so only when needed. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  const { default: stringWidth }: typeof import('string-width') = require('string-width');
  return stringWidth(text);
}
