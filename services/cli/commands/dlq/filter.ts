import { type Command, Option } from 'commander';
import { readHost } from '../../../../shared/control/hosts/host-name.ts';
import type { LetterFilter } from '../../../../shared/control/letters/letter-filter.ts';
import { readRunId } from '../../../../shared/control/run-id.ts';
import { UsageError } from '../../../../shared/runtime/errors.ts';
import { integer } from '../../../../shared/settings/parsers.ts';
import { LETTER_REASONS } from '../../../../shared/task/task/outcome.ts';
import type { Whose } from '../../process/with-stores.ts';

/** The choice between the letters of this machine's crawls (`true`) and the fleet's (`false`); absent without a flag. */
export interface LocalChoice {
  readonly local?: boolean;
}

/** The flags that select letters. */
export interface FilterOptions extends LocalChoice {
  readonly reason?: string;
  readonly host?: string;
  readonly run?: string;
  readonly limit?: string;
}

/** The flags of `trawl dlq replay`. */
export interface ReplayOptions extends FilterOptions {
  readonly dryRun?: boolean;
  /** Flags of the settings that a run is opened with. Those given override the options of the letters' own run. */
  readonly [flag: string]: unknown;
}

/** Adds the flags that select letters. @param limit the default of `--limit`; without it, all letters are selected */
export function addFilterOptions(command: Command, limit?: string): Command {
  const most = limit === undefined ? 'at most this many (default: all)' : 'at most this many';
  return command
    .option('--reason <reason>', 'only those that failed for this reason: timeout, http_4xx, malformed …')
    .option('--host <host>', 'only those of this host')
    .option('--run <id>', 'only those of this run')
    .addOption(new Option('--limit <n>', most).default(limit, limit));
}

/** The place to look for letters: this machine if the run is one of its crawls. */
export function whoseLetters({ local, run }: FilterOptions): Whose {
  return { local, run: run === undefined ? undefined : readRunId(run) };
}

/** @throws UsageError if a flag has an invalid value */
export function readFilter({ reason, host, run }: FilterOptions): LetterFilter {
  const known = LETTER_REASONS.find((each) => each === reason);
  if (reason !== undefined && known === undefined)
    throw new UsageError(`expected --reason to be one of ${LETTER_REASONS.join(', ')}, got "${reason}"`);
  return {
    reason: known,
    host: host === undefined ? undefined : readHost(host),
    run: run === undefined ? undefined : readRunId(run),
  };
}

/** @throws UsageError if the limit is not a whole number above 0 */
export function readLimit({ limit }: FilterOptions): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const read = integer({ min: 1, max: Number.MAX_SAFE_INTEGER })(limit);
  if ('value' in read) return read.value;
  throw new UsageError(`expected --limit to be a whole number, from 1, got "${limit}"`);
}
