import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigurationError, codeOf, messageOf } from '../../runtime/errors.ts';

/** Endings of files that can be imported. */
export const ENDINGS = ['.ts', '.js', '.mjs'] as const;
/** The name of a crawler's file. A file with another dot in its name, such as a test or a type declaration, isn't one. */
const CRAWLER_FILE = /^[a-z0-9][a-z0-9-]*\.(?:ts|js|mjs)$/i;
/** Names of the file with the middleware for a folder's crawlers. */
export const MIDDLEWARE_FILES = ['middleware.ts', 'middleware.js', 'middleware.mjs'] as const;

/** Returns whether a crawler's file contains a word, the name of a secret, say. Loads nothing. `false` if a file can't be read. */
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

/** Returns whether a text is a path rather than a name. */
export function isPath(name: string): boolean {
  return name.includes('/') || ENDINGS.some((ending) => name.endsWith(ending));
}

/** Returns the crawlers' files in these folders. @throws ConfigurationError if a folder exists but can't be read */
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

/** Returns whether a file is the middleware of its folder, which lies beside the crawlers. */
function isMiddleware(name: string): boolean {
  return MIDDLEWARE_FILES.some((each) => each === name);
}

/** Returns the first crawler's file with this name in these folders. */
export function fileNamed(folders: readonly string[], name: string): string | undefined {
  if (!CRAWLER_FILE.test(`${name}.ts`)) return undefined;
  return folders
    .flatMap((folder) => ENDINGS.map((ending) => join(folder, name + ending)))
    .find((file) => existsSync(file));
}
