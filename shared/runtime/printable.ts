/**
 * Characters that are unsafe to show. Terminals obey some of them: C0 and C1 controls, including ESC, CSI and OSC, DEL, the
 * characters that change the direction of text (Bidi_Control), and Unicode's line ends. Others are invisible, so that one text can
 * pass for another: an invalid URL for a valid one, say. JSON, which is for programs, keeps the invisible ones.
 */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;
/** The exceptions, which have a visible effect: they join letters or emoji, or select the look of the character before. */
const JOINS = /[\p{Join_Control}]/u;
const [FIRST_LOOK, LAST_LOOK] = ['\ufe00', '\ufe0f'];
/** The characters a terminal obeys and JSON doesn't escape by itself. */
const OBEYED_IN_JSON = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;
const DELETE = '\u007f';

/**
 * Returns a text on one line that is safe to show, whoever wrote it. Characters that a terminal would obey or not show are
 * escaped, such as `\u001b`. Every text goes through here, or through {@link printableJson}, before it reaches a terminal or a log.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, (character) => (isSeen(character) ? character : escaped(character)));
}

function isSeen(character: string): boolean {
  return JOINS.test(character) || (character >= FIRST_LOOK && character <= LAST_LOOK);
}

/**
 * Returns JSON that is safe to show. It parses to the same value, except for halves of surrogate pairs: unsafe characters can
 * occur only in strings, where an escape means the same. Line feeds outside of strings stay.
 */
export function printableJson(given: string): string {
  const json = wellFormedJson(given);
  // Most JSON is ASCII, and that check is ten times as fast. It matters, since a worker logs a line per page.
  const isAscii = Buffer.byteLength(json) === json.length;
  return isAscii && !json.includes(DELETE) ? json : json.replace(OBEYED_IN_JSON, escaped);
}

/**
 * Returns JSON that strict parsers accept, such as `jq` and Rust's. They refuse half a surrogate pair, which is left when an emoji
 * is cut in two. Replaces each half with U+FFFD. `JSON.stringify` escapes such halves as `\ud…`, and nothing else.
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
