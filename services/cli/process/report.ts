import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommanderError } from 'commander';
import { placesIn } from '../../../shared/crawler/failures/place.ts';
import { stepErrorOf } from '../../../shared/crawler/failures/step-error.ts';
import { ConfigurationError, messageOf, TrawlError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { isOutOfFiles, OPEN_FILES_ADVICE } from '../../../shared/runtime/open-files.ts';
import { TRAWL } from '../../../shared/runtime/started-as.ts';
import { VERSION } from '../../../shared/runtime/version.ts';
import { say, sayFailure } from '../text/output.ts';
import { EXIT_INTERRUPTED } from './interrupts.ts';

const ROOT = pathToFileURL(join(import.meta.dirname, '../../..')).href;

/**
 * Prints the error that ended a command to standard error, and returns the exit code. Stack traces are for bugs only, and go to the log
 * at level debug.
 */
export function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigurationError && error.problems.length > 1) {
    sayFailure(`${error.problems.length} problems:`, ...error.problems.map((problem) => `  ${problem}`));
    return error.exitCode;
  }
  if (isInterruption(error)) {
    say('trawl: interrupted');
    return EXIT_INTERRUPTED;
  }
  const sentence = isUntoldShortage(error) ? `${OPEN_FILES_ADVICE}. ${messageOf(error)}` : sentenceOf(error);
  const [first, ...others] = sentence.split('\n');
  sayFailure(first ?? '', ...others.map((line) => `  ${line}`));
  return error instanceof TrawlError ? error.exitCode : 1;
}

/**
 * Prints an uncaught error and returns the exit code. Work that a crawler starts without awaiting it throws outside any page, which is no
 * bug of this program.
 */
export function reportUncaught(error: unknown): number {
  const source = error instanceof Error ? placesIn(String(error.stack)).source : undefined;
  if (source === undefined || !existsSync(source.file)) return report(error);
  const { message } = stepErrorOf({ crawler: 'without a name' }, error);
  sayFailure(`${message}: nothing was waiting for this. A step must await everything it starts`);
  return 1;
}

/** Logs the stack trace of a bug. For any other error the message is enough. */
export function logBug(error: unknown, log: Logger): void {
  if (isBug(error) && error instanceof Error) log.debug({ stack: error.stack?.split('\n') }, 'a bug:');
}

function sentenceOf(error: unknown): string {
  const service = serviceOf(error);
  if (service !== undefined) return `${service} refused a command: ${messageOf(error).trim()}${remedyFor(error)}`;
  if (!isBug(error)) return messageOf(error);
  const name = error instanceof Error ? `${error.name}: ` : '';
  const place = placeOf(error);
  const where = place === undefined ? '' : `, at ${place}`;
  return `a bug in Trawl ${VERSION}: ${name}${messageOf(error)}${where}. Set LOG_LEVEL=debug to log its stack trace`;
}

/** Were there too many open files, without the error saying what to do about it? */
function isUntoldShortage(error: unknown): boolean {
  return isOutOfFiles(error) && !messageOf(error).includes(OPEN_FILES_ADVICE);
}

/** Names the command that says what to do, if a server lacks a command or a right. It lists all that are lacking. */
function remedyFor(error: unknown): string {
  return /^NOPERM|unknown command/i.test(messageOf(error))
    ? `. What is lacking, and how to mend it: ${TRAWL} doctor`
    : '';
}

/** Is the error a bug, rather than caused by users, files, disks, networks or services? */
function isBug(error: unknown): boolean {
  return !(error instanceof TrawlError || isSystemError(error) || isInterruption(error) || serviceOf(error));
}

/** Was work abandoned because the user asked to stop? */
function isInterruption(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** Is it an error of the operating system? Its message names the file or the address. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'errno' in error;
}

/** Returns the server that answered with an error, recognised by the shape of its client's errors. */
function serviceOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'ReplyError') return 'Redis';
  if ('severity' in error && 'routine' in error) return 'Postgres';
  if ('classId' in error || 'stackAtStateChange' in error) return 'RabbitMQ';
  return undefined;
}

/** Returns the innermost stack line of this program, packages excluded. The program's own folder can be in a `node_modules`. */
function placeOf(error: unknown): string | undefined {
  const lines = error instanceof Error ? (error.stack?.split('\n') ?? []) : [];
  const places = lines.map((line) => line.split(`${ROOT}/`)[1]);
  return places.find((place) => place?.includes('node_modules') === false)?.replace(/:\d+\)?$/, '');
}
