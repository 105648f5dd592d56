import { styleText } from 'node:util';

export type Colour = 'red' | 'yellow' | 'green' | 'cyan';

/** When colours are shown: on terminals that have them, unless NO_COLOR or FORCE_COLOR says otherwise; always; or never. */
export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColourChoice = (typeof COLOUR_CHOICES)[number];

/**
 * Decides for this process and those that it starts. Node.js itself reads these variables, for each text anew, and so do other
 * programs.
 */
export function chooseColours(choice: ColourChoice): void {
  if (choice === 'auto') return;
  delete process.env.NO_COLOR;
  delete process.env.FORCE_COLOR;
  if (choice === 'always') process.env.FORCE_COLOR = '1';
  else process.env.NO_COLOR = '1';
}

/** A text in a colour, if this stream shows colours. */
export function painted(colour: Colour, text: string, stream: NodeJS.WriteStream): string {
  return styleText(colour, text, { stream });
}

/** Does this stream show colours? */
export function showsColours(stream: NodeJS.WriteStream): boolean {
  return painted('red', 'x', stream) !== 'x';
}
