import type { Command } from 'commander';
import type { LetterFilter } from '../../../shared/control/letter-filter.ts';
import { UsageError } from '../../../shared/runtime/errors.ts';
import { FAILED_REASONS } from '../../../shared/task/task/outcome.ts';
import { readHost } from '../process/host-name.ts';
import { readRunId } from '../process/run-id.ts';

/** The flags that say which letters are meant. */
export interface FilterOptions {
  readonly reason?: string;
  readonly host?: string;
  readonly run?: string;
  readonly limit?: string;
}

export function addFilterOptions(command: Command, limit?: string): Command {
  return command
    .option('--reason <reason>', 'only those that failed for this reason: timeout, http_4xx, malformed …')
    .option('--host <host>', 'only those of this host')
    .option('--run <id>', 'only those of this run')
    .option('--limit <n>', limit === undefined ? 'at most so many (default: all)' : 'at most so many', limit);
}

/** @throws UsageError where a flag can't be understood */
export function readFilter({ reason, host, run }: FilterOptions): LetterFilter {
  const known = FAILED_REASONS.find((each) => each === reason);
  if (reason !== undefined && known === undefined)
    throw new UsageError(`expected --reason to be one of ${FAILED_REASONS.join(', ')}, got "${reason}"`);
  return {
    reason: known,
    host: host === undefined ? undefined : readHost(host),
    run: run === undefined ? undefined : readRunId(run),
  };
}

/** @throws UsageError if the limit is no whole number above 0 */
export function readLimit({ limit }: FilterOptions): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const number = Number(limit);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new UsageError(`expected --limit to be a whole number, got "${limit}"`);
}
