/** White space, except for a single plain space, which needs no replacing. */
const WHITE_SPACE = /[^\S ]\s*| \s+/g;
/** Characters that are looked at at once: of a run of white space V8 may keep each, and its stack ends within megabytes; see `firstMatch`. */
const PIECE = 1_000_000;

/**
 * A text of any length with each run of white space as a single space.
 *
 * @param space a run of what counts as white space
 */
export function foldedSpace(text: string, space: RegExp = WHITE_SPACE): string {
  if (text.length <= PIECE) return text.replaceAll(space, ' ');
  let folded = '';
  for (let at = 0; at < text.length; at += PIECE) folded += text.slice(at, at + PIECE).replaceAll(space, ' ');
  // A run that was cut has a space in each of its pieces.
  return folded.replaceAll(/ {2,}/g, ' ');
}
