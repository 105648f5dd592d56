/** Exit code of a {@link UsageError}. */
export const EXIT_USAGE = 2;
/** Exit code of a {@link ConfigurationError}. */
export const EXIT_CONFIGURATION = 78;

/**
 * The errors that end a command, grouped by their meaning for the caller. Each has a one-sentence message that names the
 * problem and the remedy, and an exit code that scripts can rely on.
 *
 * | error                | exit | meaning                                               |
 * |----------------------|------|-------------------------------------------------------|
 * | {@link UsageError}   | 2    | the command line is invalid                           |
 * | {@link ConfigurationError} | 78 | settings, or the state of a server, don't fit      |
 * | {@link UnavailableError} | 1 | a service can't be reached, after all attempts        |
 * | {@link StorageError} | 1    | a file can't be written or read, or belongs to another process |
 * | {@link InterruptedError} | 130 | Ctrl-C or SIGTERM came before anything was done     |
 */
export abstract class TrawlError extends Error {
  abstract readonly code: string;
  abstract readonly exitCode: number;
}

/** The command line is invalid. Nothing was done. */
export class UsageError extends TrawlError {
  override readonly name = 'UsageError';
  readonly code = 'ERR_USAGE';
  readonly exitCode = EXIT_USAGE;
}

/** Settings, or the state of a server, don't fit. Nothing was done. Lists all problems at once. */
export class ConfigurationError extends TrawlError {
  override readonly name = 'ConfigurationError';
  readonly code = 'ERR_CONFIGURATION';
  readonly exitCode = EXIT_CONFIGURATION;
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: { cause?: unknown }) {
    super(problems.join('\n'), options);
    this.problems = problems;
  }
}

/** A service can't be reached. Everything offered so far is kept, and trying again loses nothing. */
export class UnavailableError extends TrawlError {
  override readonly name = 'UnavailableError';
  readonly code = 'ERR_UNAVAILABLE';
  readonly exitCode = 1;
}

/** A service was reached, but can't be used for now. The message says why, and what ends that. Waiting helps. */
export class NotNowError extends Error {
  override readonly name = 'NotNowError';
}

/** A file can't be written, can't be read, or is in use by another process. Everything stored so far stays as it is. */
export class StorageError extends TrawlError {
  override readonly name = 'StorageError';
  readonly code = 'ERR_STORAGE';
  readonly exitCode = 1;
}

/** A file was removed by somebody else while it was being written. Its contents are lost. */
export class RemovedFileError extends StorageError {
  constructor(path: string) {
    super(`${path} was removed while it was being written, and what it held is lost`);
  }
}

/** The store's data of a run are not as this program writes them. Other runs are unaffected. */
export class DamagedRunError extends StorageError {
  constructor(run: string, why: string, options?: { cause?: unknown }) {
    super(
      `run ${run} is damaged in the store: ${why}. Restore it from a backup, or crawl again under another name`,
      options,
    );
  }
}

/** Ctrl-C or SIGTERM came while there was no work to finish. Nothing is lost. */
export class InterruptedError extends TrawlError {
  override readonly name = 'InterruptedError';
  readonly code = 'ERR_INTERRUPTED';
  readonly exitCode = 130;
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0) {
    return error.errors.map(messageOf).join('; ');
  }
  return error instanceof Error ? error.message || error.name : String(error);
}

/** Returns the `code` of a Node.js error, such as `ECONNREFUSED`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
