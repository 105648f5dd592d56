import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigurationError, messageOf } from '../../shared/errors.ts';
import type { RunOptions } from '../../shared/runs.ts';
import type { SettingKey, Settings } from '../../shared/settings-table.ts';
import { DEFAULT_ROUTING, type RoutingRule, routingFileSchema } from '../../shared/task/routing.ts';

/** What a run is opened with, out of the settings. */
export function runOptionsOf(settings: Settings, dedup: RunOptions['dedup']): RunOptions {
  const { crawler, rate: intervalMs, maxAttempts, follow, maxDepth, scope, include, exclude, maxPages } = settings;
  const { content, urlKey, recrawlAfter: recrawlAfterMs = 0 } = settings;
  const following = { follow, maxDepth, scope, include, exclude, maxPages };
  const recrawling = { incremental: settings.incremental || recrawlAfterMs > 0, recrawlAfterMs };
  return { crawler, dedup, intervalMs, maxAttempts, ...following, content, urlKey, ...recrawling };
}

/** Which settings {@link runOptionsOf} reads, and what they are called in a run. */
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
  content: 'content',
  urlKey: 'urlKey',
  incremental: 'incremental',
  recrawlAfter: 'recrawlAfterMs',
} as const satisfies Partial<Record<SettingKey, keyof RunOptions>>;

/** Which options two runs have otherwise. One that `own` was opened without, by an older version, is not compared. */
export function differingOptions(own: RunOptions, other: RunOptions): (keyof RunOptions)[] {
  const names = Object.keys(own) as (keyof RunOptions)[];
  return names.filter((name) => JSON.stringify(own[name]) !== JSON.stringify(other[name]));
}

/**
 * The routing rules of a deployment: a file's, or the built-in ones.
 *
 * @throws ConfigurationError with every problem of the file
 */
export async function routingRulesOf({ routes }: Settings): Promise<readonly RoutingRule[]> {
  if (routes === '') return DEFAULT_ROUTING;
  let json: unknown;
  try {
    json = JSON.parse(await readFile(routes, 'utf8'));
  } catch (error: unknown) {
    throw new ConfigurationError([`ROUTES: ${routes} can't be read: ${messageOf(error)}`], { cause: error });
  }
  const rules = routingFileSchema.safeParse(json);
  if (rules.success) return rules.data;
  throw new ConfigurationError(
    z
      .prettifyError(rules.error)
      .split('\n')
      .map((line) => `ROUTES: ${routes}: ${line.trim()}`),
  );
}
