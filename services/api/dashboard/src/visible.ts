import { count } from '../../../../shared/control/format.ts';

/** Characters of a text of others that a list shows; the rest is on the page of the thing itself. */
const MOST_SHOWN = 300;

/**
 * A text of others with its invisible characters made visible, as `\u202e`: control characters, those that turn the direction of what
 * follows and those that show nothing, by which a text can pass for another. What joins letters or makes an emoji stays. Line breaks and
 * tabs become spaces.
 */
export function visible(text: string): string {
  return text
    .replace(/\s/g, ' ')
    .replace(/[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu, (each) =>
      isJoining(each) ? each : escaped(each),
    );
}

/** Joins letters or emoji, or chooses the look of the one before. */
function isJoining(character: string): boolean {
  return ['\u200c', '\u200d'].includes(character) || (character >= '\ufe00' && character <= '\ufe0f');
}

/** The beginning of a long text, and how long it is. */
export function shortened(text: string): string {
  if (text.length <= MOST_SHOWN) return text;
  return `${text.slice(0, MOST_SHOWN)}… (${count(text.length)} characters)`;
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
