import { Console } from 'node:console';
import { painted } from '../../../shared/runtime/colour.ts';
import { codeOf, messageOf } from '../../../shared/runtime/errors.ts';
import { printable, printableJson } from '../../../shared/runtime/printable.ts';

/** Marks in front of a line on a terminal. */
const MARKS = {
  success: { sign: '✓ ', colour: 'green' },
  failure: { sign: '✗ ', colour: 'red' },
  warning: { sign: '! ', colour: 'yellow' },
} as const;

/** A line for people. Its mark is shown only on a terminal, its colour only if colours are on. */
export type Line =
  | string
  | { readonly text: string; readonly mark?: keyof typeof MARKS; readonly colour?: 'red' | 'yellow' };

const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/** Why standard output can no longer be written. Module state, since a process has only one standard output. */
let failure: unknown;

/**
 * Prepares the standard streams. Commands write to them only through this module and only in lines, in which text from elsewhere is
 * made printable. From this call on, a closed or full stream doesn't end the process, and `console` output of crawlers goes to standard
 * error, since standard output is for the results of commands. Call it once, before anything is written.
 */
export function watchOutput(): void {
  process.stdout.on('error', (error) => {
    failure ??= error;
  });
  process.stderr.on('error', () => {});
  globalThis.console = new Console(process.stderr);
}

/** Prints lines for people on standard output. */
export function print(lines: readonly Line[]): void {
  process.stdout.write(textOf(lines, process.stdout));
}

/** Prints a document for scripts on standard output, on one line unless it is indented. */
export function printJson(document: unknown, indent = 0): void {
  process.stdout.write(jsonLine(document, indent));
}

/** JSON with a line feed, safe to show on a terminal. */
export function jsonLine(document: unknown, indent = 0): string {
  return `${printableJson(JSON.stringify(document, undefined, indent))}\n`;
}

/** Prints lines on standard error, such as problems, hints and progress. */
export function say(...lines: readonly Line[]): void {
  process.stderr.write(textOf(lines, process.stderr));
}

/** Prints the failure that ended a command on standard error, and further lines about it. */
export function sayFailure(first: string, ...more: readonly string[]): void {
  say({ text: `trawl: ${first}`, colour: 'red' }, ...more);
}

/** Passes on lines from another process of this program unchanged: they are already printable. */
export function passOn(stream: NodeJS.WriteStream, lines: string): void {
  stream.write(lines);
}

/** Is the stream a terminal on which lines can be redrawn? A dumb one, such as Emacs' shell, shows cursor movements as text. */
export function canRedraw(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && process.env.TERM !== 'dumb';
}

/** Clears the screen, if standard output is a terminal. */
export function clearScreen(): void {
  if (canRedraw(process.stdout)) process.stdout.write(CLEAR_SCREEN);
}

/** Can standard output no longer be written, because its reader has left or its disk is full? Then printing can stop. */
export function isOutputOver(): boolean {
  return failure !== undefined;
}

/**
 * Waits until all output is written, and returns the exit code. A reader that left early has seen enough (`trawl records … | head`) and
 * doesn't change the code. Any other failed write is an error.
 */
export async function finishOutput(exitCode: number): Promise<number> {
  // Not 'drain', which comes only after a write that found the buffer full.
  if (process.stdout.writableLength > 0 && !isOutputOver()) {
    await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  }
  // A failure of the last write is emitted on the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  if (failure === undefined || codeOf(failure) === 'EPIPE') return exitCode;
  sayFailure(`standard output can't be written: ${messageOf(failure)}`);
  return exitCode === 0 ? 1 : exitCode;
}

function textOf(lines: readonly Line[], stream: NodeJS.WriteStream): string {
  return lines.map((line) => `${textOfLine(line, stream)}\n`).join('');
}

function textOfLine(line: Line, stream: NodeJS.WriteStream): string {
  if (typeof line === 'string') return printable(line);
  const { text, mark, colour } = line;
  const shown = colour === undefined ? printable(text) : painted(colour, printable(text), stream);
  if (mark === undefined || !stream.isTTY) return shown;
  return painted(MARKS[mark].colour, MARKS[mark].sign, stream) + shown;
}
