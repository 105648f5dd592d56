import type { RunOptions } from '../ports/runs.ts';
import type { SettingKey, Settings } from '../settings/table.ts';

/** Depth to which links are followed from a seed, unless it is set. */
const DEFAULT_DEPTH = 3;

/** Returns the options of a new run, from the settings. */
export function runOptionsOf(settings: Settings, dedup: RunOptions['dedup']): RunOptions {
  const { crawler, rate: intervalMs, maxAttempts, follow, scope, include, exclude, maxPages } = settings;
  const { maxDepth = DEFAULT_DEPTH, maxHostsPerDomain } = settings;
  const { content, urlKey, recrawlAfter: recrawlAfterMs = 0 } = settings;
  const hasDefaultDepth = settings.maxDepth === undefined;
  const following = { follow, maxDepth, hasDefaultDepth, scope, include, exclude, maxPages, maxHostsPerDomain };
  const recrawling = { incremental: settings.incremental || recrawlAfterMs > 0, recrawlAfterMs };
  return { crawler, dedup, intervalMs, maxAttempts, ...following, content, urlKey, ...recrawling };
}

/** The settings that {@link runOptionsOf} reads → their names in a run's options. */
export const RUN_OPTION_OF = {
  crawler: 'crawler',
  rate: 'intervalMs',
  maxAttempts: 'maxAttempts',
  follow: 'follow',
  maxDepth: 'maxDepth',
  scope: 'scope',
  include: 'include',
  exclude: 'exclude',
  maxPages: 'maxPages',
  maxHostsPerDomain: 'maxHostsPerDomain',
  content: 'content',
  urlKey: 'urlKey',
  incremental: 'incremental',
  recrawlAfter: 'recrawlAfterMs',
} as const satisfies Partial<Record<SettingKey, keyof RunOptions>>;

/** Returns the options that differ between two runs. Options that `own` lacks, because an older version opened it, are not compared. */
export function differingOptions(own: RunOptions, other: RunOptions): (keyof RunOptions)[] {
  const names = Object.keys(own) as (keyof RunOptions)[];
  return names.filter((name) => JSON.stringify(own[name]) !== JSON.stringify(other[name]));
}
