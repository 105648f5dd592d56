import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

const AROUND = 2;
const MOST_WIDTH = 120;
/** Places are shown from here, or from the program's folder. */
const FOLDERS = [process.cwd(), join(import.meta.dirname, '../../..')];

/**
 * The lines of a file around the place with which a message begins, as in `shop.ts:18: …`, the one that is meant marked; none if
 * it begins with no place, or the file can't be read.
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
