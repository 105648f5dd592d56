import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

const AROUND = 2;
const MOST_WIDTH = 120;
/** Places in messages are relative to the current folder or to the program's. */
const FOLDERS = [process.cwd(), join(import.meta.dirname, '../../..')];

/**
 * Returns the lines of a file around the place at the start of a message such as `shop.ts:18: …`, with that line marked; none if the
 * message doesn't start with a place, or the file can't be read.
 */
export function codeFrame(message: string): string[] {
  const [, file = '', number = ''] = /^(.+?):(\d+)[:,]/.exec(message) ?? [];
  if (file === '') return [];
  const lines = linesOf(file);
  const at = Number(number);
  const from = Math.max(1, at - AROUND);
  const width = String(at + AROUND).length;
  return lines.slice(from - 1, at + AROUND).map((text, index) => {
    const line = from + index;
    return `${line === at ? '>' : ' '} ${String(line).padStart(width)} | ${text.trimEnd().slice(0, MOST_WIDTH)}`;
  });
}

function linesOf(file: string): readonly string[] {
  for (const path of isAbsolute(file) ? [file] : FOLDERS.map((folder) => join(folder, file))) {
    try {
      return readFileSync(path, 'utf8').split('\n');
    } catch {
      // It may be in the other folder.
    }
  }
  return [];
}
