import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Cases of other crawlers' suites, read in place from the folder `CASES_DIR`. They are not part of the project. */
const folder = process.env.CASES_DIR ?? '';

/** The rows of a file of cases, one JSON document a line. */
export function rows<T>(file: string): T[] {
  return readFileSync(join(folder, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** A file that a case names. */
export function bytesOf(file: string): Uint8Array {
  return readFileSync(join(folder, file));
}
