import type { Readable } from 'node:stream';

/** A longer line is passed on in pieces: it is no line of the log. */
const MOST_LENGTH = 1_000_000;

/** Passes on another process' output in whole lines, so that lines of several processes don't mix. The end ends a line, too. */
export function passWholeLines(from: Readable, pass: (text: string) => void): void {
  let rest = '';
  from.setEncoding('utf8').on('data', (text: string) => {
    rest += text;
    const end = rest.lastIndexOf('\n') + 1;
    if (end > 0) pass(rest.slice(0, end));
    rest = rest.slice(end);
    if (rest.length <= MOST_LENGTH) return;
    pass(`${rest}\n`);
    rest = '';
  });
  from.on('end', () => {
    if (rest !== '') pass(`${rest}\n`);
  });
}
