/**
 * Characters that a terminal obeys instead of showing them: C0 and C1 controls with ESC, CSI and OSC among them, DEL, those
 * that change the direction of text (Bidi_Control), and the line ends of Unicode. And those that show nothing, by which a text passes for
 * another: one that is no URL for one that is. JSON, which is for programs, keeps these.
 */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;
/** Of these, what joins letters or makes an emoji, or chooses the look of the one before, is seen by that. */
const JOINS = /[\p{Join_Control}]/u;
const [FIRST_LOOK, LAST_LOOK] = ['\ufe00', '\ufe0f'];
/** Those that JSON doesn't escape by itself. */
const OBEYED_IN_JSON = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;
const DELETE = '\u007f';

/**
 * A text on one line that is safe to show, whoever wrote it: each character that a terminal would obey, or not show, is escaped, as
 * `\u001b` say. Every text goes through here, or through {@link printableJson}, before it reaches a terminal or a log.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, (character) => (isSeen(character) ? character : escaped(character)));
}

function isSeen(character: string): boolean {
  return JOINS.test(character) || (character >= FIRST_LOOK && character <= LAST_LOOK);
}

/**
 * JSON that is safe to show and parses to the same value, but for halves of surrogate pairs: those characters can only be in its
 * strings, where an escape means the same. Line feeds between its parts stay.
 */
export function printableJson(given: string): string {
  const json = wellFormedJson(given);
  // Most JSON is ASCII, and checking that is ten times as fast; a worker logs a line per page.
  const isAscii = Buffer.byteLength(json) === json.length;
  return isAscii && !json.includes(DELETE) ? json : json.replace(OBEYED_IN_JSON, escaped);
}

/**
 * JSON that strict readers read to its end, `jq` and those of Rust among them: they refuse half a surrogate pair, as of an emoji that
 * was cut in two. Each half becomes U+FFFD. `JSON.stringify` escapes them, and nothing else as `\ud…`.
 */
export function wellFormedJson(json: string): string {
  if (!json.includes('\\ud')) return json;
  // Other escapes are skipped two characters at a time, so that an escaped backslash before ud800 stays as it is.
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (found) => (found.length > 2 ? '\ufffd' : found));
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
