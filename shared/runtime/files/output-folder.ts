import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf, messageOf, StorageError } from '../errors.ts';

/** What helps where OUTPUT_DIR can't be written to. */
const ADVICE = 'Fix that, or name another folder: OUTPUT_DIR, --output-dir';

/**
 * Makes a folder under OUTPUT_DIR, with those above it that are missing. `mkdir` with `recursive` is no use here: below
 * `/proc` it never returns, and on a read-only disk it reports that the folder doesn't exist.
 *
 * @throws StorageError that names the folder and the setting
 */
export function makeOutputFolder(path: string): void {
  try {
    for (const folder of missingFolders(path)) makeOne(folder);
    if (!statSync(path).isDirectory()) throw new Error('ENOTDIR: not a directory');
  } catch (error: unknown) {
    throw unusableOutput(path, error);
  }
}

/** The error for people when something under OUTPUT_DIR can't be used. */
export function unusableOutput(path: string, error: unknown): StorageError {
  return new StorageError(`${path} can't be written: ${messageOf(error)}. ${ADVICE}`, { cause: error });
}

/** The folders of a path that are not there, the outermost first. */
function missingFolders(path: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at))
    missing.unshift(at);
  return missing;
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error: unknown) {
    // Another process may have made it just now.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
