import type { RunProgress } from '../../ports/runs.ts';
import { matchesUrl } from '../../task/url/glob.ts';

/**
 * Why a run may not know a URL, as far as its options and counters tell. URLs that are left out are not stored: a link to it would be left
 * out by `by`, and `progress` has what the run has left out so far. A crawler's step may have a scope and patterns of its own.
 */
export interface UnknownUrl {
  /** The flag that keeps it out, whatever leads to it; null if none does for certain. */
  readonly by: 'exclude' | 'include' | null;
  /** The pattern that excludes it; or all that include, none of which does. */
  readonly patterns?: readonly string[];
  readonly progress: Pick<RunProgress, 'leftOut' | 'options' | 'discovered' | 'steps'>;
}

export function unknownUrl(href: string, { leftOut, options, discovered, steps }: RunProgress): UnknownUrl {
  const progress = { leftOut, options, discovered, ...(steps === undefined ? {} : { steps }) };
  const { include = [], exclude = [] } = options;
  const excluding = exclude.find((pattern) => matchesUrl(pattern, href));
  if (excluding !== undefined) return { by: 'exclude', patterns: [excluding], progress };
  if (include.length > 0 && !include.some((pattern) => matchesUrl(pattern, href)))
    return { by: 'include', patterns: include, progress };
  return { by: null, progress };
}
