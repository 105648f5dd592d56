/** White space, except for a single plain space, which needs no replacing. */
const WHITE_SPACE = /[^\S ]\s*| \s+/g;
/** Characters processed at once: V8 may remember each character in a run of white space, and megabytes overflow its stack; see `firstMatch`. */
const PIECE = 1_000_000;

/**
 * Replaces each run of white space with a single space, in a text of any length.
 *
 * @param space matches a run of white space
 */
export function foldedSpace(text: string, space: RegExp = WHITE_SPACE): string {
  if (text.length <= PIECE) return text.replaceAll(space, ' ');
  let folded = '';
  for (let at = 0; at < text.length; at += PIECE) folded += text.slice(at, at + PIECE).replaceAll(space, ' ');
  // A run that was cut has left a space in each piece.
  return folded.replaceAll(/ {2,}/g, ' ');
}
