import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigurationError, codeOf, messageOf } from '../../runtime/errors.ts';

/** Of a file that can be imported. */
export const ENDINGS = ['.ts', '.js', '.mjs'] as const;
/** A crawler's file. What has another dot in its name, a test or a type, is none. */
const CRAWLER_FILE = /^[a-z0-9][a-z0-9-]*\.(?:ts|js|mjs)$/i;
/** The middleware of a folder's crawlers. */
export const MIDDLEWARE_FILES = ['middleware.ts', 'middleware.js', 'middleware.mjs'] as const;

/** Does a crawler's file have this word, the name of a secret, say? Nothing is loaded; what can't be read has none. */
export function isMentioned(word: string, folders: readonly string[], named: string): boolean {
  try {
    const files = [
      ...crawlerFiles(folders.map((folder) => resolve(folder))),
      ...(isPath(named) ? [resolve(named)] : []),
    ];
    return files.some((file) => readFileSync(file, 'utf8').includes(word));
  } catch {
    return false;
  }
}

/** Has it the form of a path, not of a name? */
export function isPath(name: string): boolean {
  return name.includes('/') || ENDINGS.some((ending) => name.endsWith(ending));
}

/** The crawlers of these folders. @throws ConfigurationError if one that is there can't be read */
export function crawlerFiles(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const names = namesIn(folder).filter((name) => CRAWLER_FILE.test(name) && !isMiddleware(name));
    return names.sort().map((name) => join(folder, name));
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return [];
    const problem = `expected CRAWLERS_DIR to be a folder that can be read: ${messageOf(error)}`;
    throw new ConfigurationError([problem], { cause: error });
  }
}

/** The middleware of a folder stands beside its crawlers. */
function isMiddleware(name: string): boolean {
  return MIDDLEWARE_FILES.some((each) => each === name);
}

/** The first crawler of these folders whose file has this name. */
export function fileNamed(folders: readonly string[], name: string): string | undefined {
  if (!CRAWLER_FILE.test(`${name}.ts`)) return undefined;
  return folders
    .flatMap((folder) => ENDINGS.map((ending) => join(folder, name + ending)))
    .find((file) => existsSync(file));
}
