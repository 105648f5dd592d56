import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf, messageOf, StorageError } from '../errors.ts';
import { isOutOfFiles, OPEN_FILES_ADVICE } from '../open-files.ts';

/** The remedy if OUTPUT_DIR can't be written to. */
const ADVICE = 'Fix that, or name another folder: OUTPUT_DIR, --output-dir';

/**
 * Creates a folder under OUTPUT_DIR, with any missing parent folders. `mkdir` with `recursive` is no use here: below `/proc` it
 * never returns, and on a read-only disk it reports that the folder doesn't exist.
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

/** Returns the error to show when something under OUTPUT_DIR can't be used. */
export function unusableOutput(path: string, error: unknown): StorageError {
  const reason = isOutOfFiles(error) ? OPEN_FILES_ADVICE : `${messageOf(error)}. ${ADVICE}`;
  return new StorageError(`${path} can't be written: ${reason}`, { cause: error });
}

/** Returns the folders of a path that don't exist, the outermost first. */
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
    // Another process may have created it in the meantime.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
