import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigurationError, messageOf } from '../runtime/errors.ts';
import { Crawler } from './crawler.ts';
import { resolveOwnImport } from './own-import.ts';

/** Crawlers that come with this program. */
const OWN_FOLDER = join(import.meta.dirname, '../../crawlers');
const ENDINGS = ['.ts', '.js', '.mjs'] as const;

interface LoadOptions {
  /** Where crawlers are looked for by their names, before those that come with this program. */
  readonly folder: string;
  /** May it also be the path of a file? Not in a fleet, where whoever writes to Redis would choose what workers run. */
  readonly takesPaths: boolean;
}

/**
 * Loads the module of this name, or at this path, whose default export is a crawler.
 *
 * @throws ConfigurationError if there is no such file, or it exports something else
 */
export async function loadCrawler(name: string, options: LoadOptions): Promise<Crawler> {
  const file = isPath(name) ? pathOf(name, options) : fileNamed(name, options);
  const shown = shownPath(file);
  resolveOwnImport();
  let module: { readonly default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error: unknown) {
    throw new ConfigurationError([`${shown} can't be loaded: ${messageOf(error)}`], { cause: error });
  }
  if (module.default instanceof Crawler) return module.default;
  throw new ConfigurationError([
    `expected ${shown} to export a crawler: export default defineCrawler({ name: 'shop', step: (page) => ({ … }) })`,
  ]);
}

function isPath(name: string): boolean {
  return name.includes('/') || ENDINGS.some((ending) => name.endsWith(ending));
}

function pathOf(name: string, { folder, takesPaths }: LoadOptions): string {
  if (!takesPaths) {
    throw new ConfigurationError([
      `expected CRAWLER to be a name, as each worker of a fleet looks in its own ${folder}/ (CRAWLERS_DIR), got "${name}"`,
    ]);
  }
  const file = resolve(name);
  if (existsSync(file)) return file;
  throw new ConfigurationError([`expected CRAWLER to be a crawler's name or file: there is no ${file}`]);
}

function fileNamed(name: string, { folder, takesPaths }: LoadOptions): string {
  const isName = /^[a-z0-9][a-z0-9-]*$/.test(name);
  const files = isName ? [folder, OWN_FOLDER].flatMap((each) => filesOf(resolve(each), name)) : [];
  const file = files.find((each) => existsSync(each));
  if (file !== undefined) return file;
  const here = takesPaths && isName ? filesOf(resolve(), name).find((each) => existsSync(each)) : undefined;
  const mend = here === undefined ? '' : `: did you mean ./${relative(resolve(), here)}?`;
  throw new ConfigurationError([
    `expected CRAWLER to be the name of a file in ${folder}/ (CRAWLERS_DIR), without .ts, got "${name}"${mend}`,
  ]);
}

function filesOf(folder: string, name: string): string[] {
  return ENDINGS.map((ending) => join(folder, name + ending));
}

/** As users would type it, if it is in their folder. */
function shownPath(file: string): string {
  const path = relative(resolve(), file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}
