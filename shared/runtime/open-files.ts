import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { codeOf, messageOf } from './errors.ts';

/** The remedy for a process that may open too few files. */
export const OPEN_FILES_ADVICE = 'too many open files: raise the limit (ulimit -n 4096), or stop what else uses them';

/** Most errors that one error can be the last of. */
const MOST_CAUSES = 10;
/** As a message says it, also that of Node.js for a package.json, which has another code. */
const TOO_MANY = /\bE[MN]FILE\b|too many open files/;
/** SQLite's words for a file that it could not open, for whatever reason. */
const UNOPENED = 'unable to open database file';
/** Files that SQLite opens for one database. */
const PROBED_FILES = 4;

/** Is an error, or one that caused it, due to the number of open files that this process, or its machine, may have? */
export function isOutOfFiles(error: unknown): boolean {
  for (let at = error, n = 0; at instanceof Error && n < MOST_CAUSES; at = at.cause, n++) {
    if (/^E[MN]FILE$/.test(codeOf(at) ?? '') || TOO_MANY.test(messageOf(at))) return true;
    if (messageOf(at).includes(UNOPENED) && hasFewLeft()) return true;
  }
  return false;
}

/** Can this process open no more than a few files now? */
function hasFewLeft(): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < PROBED_FILES) opened.push(openSync(devNull, 'r'));
    return false;
  } catch (error: unknown) {
    return isOutOfFiles(error);
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Returns an error's message, or the remedy for too many open files. */
export function withFilesAdvice(error: unknown): string {
  return isOutOfFiles(error) ? OPEN_FILES_ADVICE : messageOf(error);
}
