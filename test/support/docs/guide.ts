import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** The code and commands that readers copy from a page of the docs. */
export interface Guide {
  /** Blocks of TypeScript that begin with a file name, by that name. */
  readonly files: ReadonlyMap<string, string>;
  /** The lines of its blocks of commands. */
  readonly commands: readonly string[];
}

/**
 * Reads a page of the docs.
 *
 * @param path in the repository
 * @param section a heading; defaults to the whole page
 */
export function readGuide(path: string, section?: string): Guide {
  const all = readFileSync(join(ROOT, path), 'utf8');
  const part = section === undefined ? all : (new RegExp(`^## ${section}$(.*?)^## `, 'ms').exec(all)?.[1] ?? '');
  const blocks = Array.from(part.matchAll(/^```(\w+)\n(.*?)^```$/gms), ([, language = '', code = '']) => {
    return { language, code };
  });
  const files = blocks.flatMap(({ language, code }) => {
    const [, name] = /^\/\/ (\S+\.ts)\n/.exec(code) ?? [];
    return language === 'ts' && name !== undefined ? [[name, code] as const] : [];
  });
  const commands = blocks.flatMap(({ language, code }) => (language === 'sh' ? code.trim().split('\n') : []));
  return { files: new Map(files), commands };
}
