import { styleText } from 'node:util';

export type Colour = 'red' | 'yellow' | 'green' | 'cyan';

/** When to show colours. `auto`: on terminals that support them, unless NO_COLOR or FORCE_COLOR says otherwise. */
export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColourChoice = (typeof COLOUR_CHOICES)[number];

/**
 * Sets whether this process and its child processes show colours. It does so through environment variables, which Node.js
 * reads again for each text, and which other programs read too.
 */
export function chooseColours(choice: ColourChoice): void {
  if (choice === 'auto') return;
  delete process.env.NO_COLOR;
  delete process.env.FORCE_COLOR;
  if (choice === 'always') process.env.FORCE_COLOR = '1';
  else process.env.NO_COLOR = '1';
}

/** Returns the text in a colour if the stream shows colours, otherwise unchanged. */
export function painted(colour: Colour, text: string, stream: NodeJS.WriteStream): string {
  return styleText(colour, text, { stream });
}

/** Returns whether a stream shows colours. */
export function showsColours(stream: NodeJS.WriteStream): boolean {
  return painted('red', 'x', stream) !== 'x';
}
