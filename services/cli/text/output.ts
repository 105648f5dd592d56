import { Console } from 'node:console';
import { painted } from '../../../shared/runtime/colour.ts';
import { codeOf, messageOf } from '../../../shared/runtime/errors.ts';
import { printable, printableJson } from '../../../shared/runtime/printable.ts';

/** What stands before a line on a terminal. */
const MARKS = {
  success: { sign: '✓ ', colour: 'green' },
  failure: { sign: '✗ ', colour: 'red' },
  warning: { sign: '! ', colour: 'yellow' },
} as const;

/** A line for people. Its mark is shown on a terminal only; its colour where colours are shown. */
export type Line =
  | string
  | { readonly text: string; readonly mark?: keyof typeof MARKS; readonly colour?: 'red' | 'yellow' };

const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/** Why standard output can't be written any more. A process has one standard output, and so this module has one state. */
let failure: unknown;

/**
 * Commands write to the standard streams by this module alone, and always lines: whatever others wrote is printable in
 * them. From this call on, a stream that takes no more ends no process, and what crawlers log with `console` goes to standard
 * error: standard output is for what commands were asked for. Call it once, before anything is written.
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

/** JSON and its line feed, safe to show on a terminal. */
export function jsonLine(document: unknown, indent = 0): string {
  return `${printableJson(JSON.stringify(document, undefined, indent))}\n`;
}

/** Prints lines on standard error: what went wrong, and what to do. */
export function say(...lines: readonly Line[]): void {
  process.stderr.write(textOf(lines, process.stderr));
}

/** Says on standard error what ended a command, and what belongs to it. */
export function sayFailure(first: string, ...more: readonly string[]): void {
  say({ text: `trawl: ${first}`, colour: 'red' }, ...more);
}

/** Passes on lines that another process of this program wrote, as they are: they are printable already. */
export function passOn(stream: NodeJS.WriteStream, lines: string): void {
  stream.write(lines);
}

/** Is it a terminal on which lines can be drawn anew? A dumb one shows what moves its cursor as text: Emacs' shell, say. */
export function canRedraw(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && process.env.TERM !== 'dumb';
}

/** Makes room for what is printed next, if somebody watches. */
export function clearScreen(): void {
  if (canRedraw(process.stdout)) process.stdout.write(CLEAR_SCREEN);
}

/** Does standard output take no more, because its reader has left or its disk is full? Then printing may stop. */
export function isOutputOver(): boolean {
  return failure !== undefined;
}

/**
 * Waits for what was printed, and gives the exit code. A reader that left has seen enough (`trawl records … | head`), and
 * changes nothing; what could not be written otherwise is an error.
 */
export async function finishOutput(exitCode: number): Promise<number> {
  // Not until 'drain': that comes only where a write found no room.
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
