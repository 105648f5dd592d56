import { count } from '../../../../shared/control/format.ts';

/** Characters of a foreign text that a list shows. The thing's own page shows the rest. */
const MOST_SHOWN = 300;

/**
 * Makes the invisible characters of a foreign text visible, as `\u202e`, because with them a text can pass for another: control characters,
 * those that change the writing direction, and those that show nothing. Characters that join letters or form an emoji stay. Line breaks
 * and tabs become spaces.
 */
export function visible(text: string): string {
  return text
    .replace(/\s/g, ' ')
    .replace(/[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu, (each) =>
      isJoining(each) ? each : escaped(each),
    );
}

/** Tells whether a character joins letters or emoji, or selects the look of the one before it. */
function isJoining(character: string): boolean {
  return ['\u200c', '\u200d'].includes(character) || (character >= '\ufe00' && character <= '\ufe0f');
}

/** Returns a short text whole, and of a long one the beginning and the length. */
export function shortened(text: string): string {
  if (text.length <= MOST_SHOWN) return text;
  return `${text.slice(0, MOST_SHOWN)}… (${count(text.length)} characters)`;
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
