import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigurationError, messageOf } from '../runtime/errors.ts';
import type { Crawler } from './crawler.ts';

const FOLDER = join(import.meta.dirname, '../../crawlers');

/**
 * Loads `crawlers/<name>.ts`, which exports `crawler`.
 *
 * @throws ConfigurationError if there is no such file, or it exports something else
 */
export async function loadCrawler(name: string): Promise<Crawler> {
  const file = join(FOLDER, `${name}.ts`);
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name) || !existsSync(file)) {
    throw new ConfigurationError([
      `expected CRAWLER to be the name of a file in crawlers/, without .ts, got "${name}"`,
    ]);
  }
  let module: { readonly crawler?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error: unknown) {
    throw new ConfigurationError([`crawlers/${name}.ts can't be loaded: ${messageOf(error)}`], { cause: error });
  }
  if (!isCrawler(module.crawler)) {
    throw new ConfigurationError([
      `expected crawlers/${name}.ts to export a crawler with a name and a step: export const crawler = defineCrawler({ name: '${name}', step: (page) => ({ … }) })`,
    ]);
  }
  return module.crawler;
}

function isCrawler(value: unknown): value is Crawler {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'step' in value &&
    typeof value.step === 'function'
  );
}
