import type { RunProgress } from '../../ports/runs.ts';
import { matchesUrl } from '../../task/url/glob.ts';

/**
 * Possible reasons why a run doesn't know a URL, as far as its options and counters tell. URLs that were left out are not stored, so this
 * is a guess: `by` would leave out a link to the URL, and `progress` counts what the run has left out so far. A crawler's step can have its
 * own scope and patterns.
 */
export interface UnknownUrl {
  /** The flag that leaves the URL out, whichever page links to it; null if none certainly does. */
  readonly by: 'exclude' | 'include' | null;
  /** The pattern that excludes the URL; or all patterns of `include`, none of which matches it. */
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
