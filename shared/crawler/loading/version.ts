import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { importsOf } from './own-import.ts';

const LENGTH = 8;

/**
 * Returns the version of a crawler whose module has been imported: 8 hex digits of a hash over its file, the files it imports from its
 * folder or below, packages aside, and `others`, such as its folder's middleware. It doesn't depend on where the folder is.
 */
export function versionOf(file: string, ...others: readonly string[]): string {
  const folder = dirname(file);
  const files = new Map<string, string>();
  const open = [file, ...others].map((each) => pathToFileURL(each).href);
  for (let url = open.pop(); url !== undefined; url = open.pop()) {
    const path = fileURLToPath(url);
    const name = relative(folder, path);
    if (name.startsWith('..') || isAbsolute(name) || files.has(name)) continue;
    files.set(name, path);
    open.push(...importsOf(url));
  }
  const content = createHash('sha256');
  for (const [name, path] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    content
      .update(`${name.replaceAll(sep, '/')}\0`)
      .update(readFileSync(path))
      .update('\0');
  return content.digest('hex').slice(0, LENGTH);
}
