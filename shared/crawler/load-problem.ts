import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ConfigurationError, messageOf } from '../runtime/errors.ts';
import { placesIn, shownPath } from './place.ts';

/** All that is wrong with a crawler's module that can't be imported, each with file and line where they are known. */
export function loadProblems(file: string, error: unknown): readonly string[] {
  const place = placeOf(file, error) ?? shownPath(file);
  if (error instanceof ConfigurationError) return error.problems.map((each) => `${place}: ${each}`);
  const said = error instanceof Error ? `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}` : '';
  return [`${place} can't be loaded: ${said === '' ? messageOf(error) : said}`];
}

function placeOf(file: string, error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const stack = String(error.stack);
  return compilersPlace(stack) ?? placesIn(stack).crawler ?? importersPlace(error.message) ?? checkedPlace(file, error);
}

/** Node.js puts the place of what doesn't compile before the error: `file:///here/shop.ts:2`. */
function compilersPlace(text: string): string | undefined {
  const found = /^(file:\/\/\S+|\/\S+):(\d+)\n/.exec(text);
  return found === null ? undefined : `${shownPath(found[1] ?? '')}:${found[2]}`;
}

/** `Cannot find module '/here/part.ts' imported from /here/shop.ts`: the line that names it. */
function importersPlace(message: string): string | undefined {
  const found = /^Cannot find (?:module|package) '([^']+)' imported from (.+)$/.exec(message);
  if (found === null) return undefined;
  const [, missing = '', importer = ''] = found;
  const name = missing.slice(missing.lastIndexOf('/') + 1);
  try {
    const lines = readFileSync(importer, 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes(name) && /['"]/.test(line));
    return at < 0 ? shownPath(importer) : `${shownPath(importer)}:${at + 1}`;
  } catch {
    return undefined;
  }
}

/** Of JavaScript that doesn't compile an error has no place, but another Node.js process says it. */
function checkedPlace(file: string, error: Error): string | undefined {
  if (!(error instanceof SyntaxError) || file.endsWith('.ts')) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 5_000 });
  return compilersPlace(stderr);
}
