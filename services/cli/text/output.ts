import { codeOf, messageOf } from '../../../shared/runtime/errors.ts';
import { printable, printableJson } from '../../../shared/runtime/printable.ts';

const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/** Why standard output can't be written any more. A process has one standard output, and so this module has one state. */
let failure: unknown;

/**
 * Commands write to the standard streams by this module alone, and always lines: whatever others wrote is printable in
 * them. From this call on, a stream that takes no more ends no process. Call it once, before anything is written.
 */
export function watchOutput(): void {
  process.stdout.on('error', (error) => {
    failure ??= error;
  });
  process.stderr.on('error', () => {});
}

/** Prints lines for people on standard output. */
export function print(lines: readonly string[]): void {
  process.stdout.write(textOf(lines));
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
export function say(...lines: readonly string[]): void {
  process.stderr.write(textOf(lines));
}

/** Passes on lines that another process of this program wrote, as they are: they are printable already. */
export function passOn(stream: NodeJS.WriteStream, lines: string): void {
  stream.write(lines);
}

/** Makes room for what is printed next, if somebody watches. */
export function clearScreen(): void {
  if (process.stdout.isTTY) process.stdout.write(CLEAR_SCREEN);
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
  say(`trawl: standard output can't be written: ${messageOf(failure)}`);
  return exitCode === 0 ? 1 : exitCode;
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${printable(line)}\n`).join('');
}
