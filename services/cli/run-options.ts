import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigurationError, messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { RunOptions } from '../../shared/runs.ts';
import type { SettingKey, Settings } from '../../shared/settings-table.ts';
import { DEFAULT_ROUTING, type RoutingRule, routingFileSchema } from '../../shared/task/routing.ts';

/** What a run is opened with, out of the settings. */
export function runOptionsOf(settings: Settings, dedup: RunOptions['dedup']): RunOptions {
  const { crawler, rate, maxAttempts, follow, maxDepth, content } = settings;
  return { crawler, dedup, intervalMs: rate, maxAttempts, follow, maxDepth, content };
}

/** Which settings {@link runOptionsOf} reads, and what they are called in a run. */
export const RUN_OPTION_OF = {
  crawler: 'crawler',
  rate: 'intervalMs',
  maxAttempts: 'maxAttempts',
  follow: 'follow',
  maxDepth: 'maxDepth',
  content: 'content',
} as const satisfies Partial<Record<SettingKey, keyof RunOptions>>;

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

/** Says at the start what this version does not do yet, where one would count on it. */
export function warnOfRobots({ robots }: Settings, log: Logger): void {
  if (robots === 'obey')
    log.warn({}, 'robots.txt: its Sitemap lines are read, its rules are not obeyed yet (ROBOTS=ignore hides this)');
}
