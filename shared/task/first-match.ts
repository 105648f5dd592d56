/**
 * Index of the first character that `sign` matches, at `from` or behind it; without one, the length of the text.
 *
 * To find where a run of characters ends, in a text of any length. An expression that matches the run itself, such as
 * `\S+`, fails there with a `RangeError`: for each character V8 may keep where to go back to, and its stack ends at
 * 64 MB. It does so for all expressions that are compiled once a process has compiled many.
 *
 * @param sign an expression for one character, with the flag `g`
 */
export function firstMatch(text: string, sign: RegExp, from = 0): number {
  sign.lastIndex = from;
  return sign.exec(text)?.index ?? text.length;
}
