/* Codes of the characters with a meaning in markup. */
export const LESS = 0x3c;
export const SLASH = 0x2f;
export const GREATER = 0x3e;
export const EQUALS = 0x3d;
export const EXCLAMATION = 0x21;
export const QUESTION = 0x3f;
export const DOUBLE_QUOTE = 0x22;
export const SINGLE_QUOTE = 0x27;

/** Returns whether a character is white space in HTML. */
export function isSpace(c: number): boolean {
  return c === 0x20 || c === 0x0a || c === 0x09 || c === 0x0d || c === 0x0c;
}
