import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigurationError, messageOf } from '../../shared/runtime/errors.ts';
import type { Settings } from '../../shared/settings/table.ts';
import { DEFAULT_ROUTING, type RoutingRule, routingFileSchema } from '../../shared/task/task/routing.ts';

/**
 * Returns the routing rules of a deployment: those of a file, or the built-in ones.
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
