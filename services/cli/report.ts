import { CommanderError } from 'commander';
import { ConfigurationError, messageOf, TrawlError } from '../../shared/errors.ts';

/** Says on standard error what ended a command, and gives its exit code. */
export function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigurationError && error.problems.length > 1) {
    process.stderr.write(`trawl: ${error.problems.length} settings need mending:\n`);
    for (const problem of error.problems) process.stderr.write(`  ${problem}\n`);
    return error.exitCode;
  }
  process.stderr.write(`trawl: ${messageOf(error)}\n`);
  if (error instanceof TrawlError) return error.exitCode;
  if (error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
  return 1;
}
