import { ConfigurationError } from '../../../runtime/errors.ts';
import type { Scripts } from '../scripts.ts';

/**
 * How `crawled_urls` is kept: as canonical URLs, or as 64-bit digests in small sets of integers; see `lua/shared/marks.lua`.
 * Scripts follow the form found in Redis, so no process can mix the two; a setting that differs is still an error.
 */
export type MarksForm = 'exact' | 'compact';

/**
 * Adopts the wanted form if no URL is known yet.
 *
 * @throws ConfigurationError if URLs are known in the other form
 */
export async function agreeOnMarks(scripts: Scripts, wanted: MarksForm): Promise<void> {
  const form = (await scripts.run('agree', wanted)) as string;
  if (form !== wanted) throw marksDiffer(wanted, form);
}

export function marksDiffer(wanted: MarksForm, form: string): ConfigurationError {
  const problem = `expected DEDUP to be ${form}, as the marks in this Redis are, got ${wanted}. It can be changed only while no URL is known (another KEY_PREFIX starts empty)`;
  return new ConfigurationError([problem]);
}
