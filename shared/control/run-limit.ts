import type { RunOptions } from '../ports/runs.ts';
import { UsageError } from '../runtime/errors.ts';

/**
 * Reads the `--limit` of a run.
 *
 * @throws UsageError if it isn't a whole number from 1
 */
export function readLimit(given: string | undefined): Pick<RunOptions, 'limit'> {
  if (given === undefined) return {};
  const limit = /^\d{1,12}$/.test(given) ? Number(given) : 0;
  if (limit === 0) throw new UsageError(`expected --limit to be a number of URLs, from 1, got "${given}"`);
  return { limit };
}
