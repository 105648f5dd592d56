import type { Readable } from 'node:stream';

/** Maximum length of a line. Longer ones can't be log lines, and are passed on in pieces. */
const MOST_LENGTH = 1_000_000;

/** Passes on another process' output in whole lines, so that lines of several processes don't mix. The end of the output also ends a line. */
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
