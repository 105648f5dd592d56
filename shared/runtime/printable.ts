/**
 * Characters that a terminal obeys instead of showing them: C0 and C1 controls with ESC, CSI and OSC among them, DEL, those
 * that change the direction of text (Bidi_Control), and the line ends of Unicode.
 */
const OBEYED = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** Those that JSON doesn't escape by itself. */
const OBEYED_IN_JSON = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;
const DELETE = '\u007f';

/**
 * A text on one line that is safe to show, whoever wrote it: each character that a terminal would obey is escaped, as
 * `\u001b` say. Every text goes through here, or through {@link printableJson}, before it reaches a terminal or a log.
 */
export function printable(text: string): string {
  return text.replace(OBEYED, escaped);
}

/**
 * JSON that is safe to show and parses to the same value: those characters can only be in its strings, where an escape
 * means the same. Line feeds between its parts stay.
 */
export function printableJson(json: string): string {
  // Most JSON is ASCII, and checking that is ten times as fast; a worker logs a line per page.
  const isAscii = Buffer.byteLength(json) === json.length;
  return isAscii && !json.includes(DELETE) ? json : json.replace(OBEYED_IN_JSON, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
