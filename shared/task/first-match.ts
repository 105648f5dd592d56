/**
 * Returns the index of the first character at or after `from` that `sign` matches; the length of the text if there is none.
 *
 * Use it to find the end of a run of characters in a text of any length. An expression that matches the run itself, such as
 * `\S+`, can fail on a long text with a `RangeError`: V8 may store a backtracking position for each character, on a stack
 * limited to 64 MB. Once a process has compiled many expressions, V8 does so for all that it compiles.
 *
 * @param sign an expression for one character, with the flag `g`
 */
export function firstMatch(text: string, sign: RegExp, from = 0): number {
  sign.lastIndex = from;
  return sign.exec(text)?.index ?? text.length;
}
