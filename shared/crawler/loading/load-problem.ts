import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { ConfigurationError, messageOf } from '../../runtime/errors.ts';
import { placesIn, shownPath } from '../failures/place.ts';

/** The name of a package, which a path or a file isn't. */
const PACKAGE = /^(?:@[\w-]+\/)?[\w-]+$/;

/** Returns every problem with a crawler's module that can't be imported, each with its file, and its line where known. */
export function loadProblems(file: string, error: unknown): readonly string[] {
  const place = placeOf(file, error) ?? shownPath(file);
  if (error instanceof ConfigurationError) return error.problems.map((each) => `${place}: ${each}`);
  const said = error instanceof Error ? `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}` : '';
  return [`${place} can't be loaded: ${said === '' ? messageOf(error) : said}${mendOf(error)}`];
}

/**
 * Returns advice on an import error: code that TypeScript compiles but Node.js, which only strips types, refuses; a package that isn't
 * installed; or a misspelt path.
 */
function mendOf(error: unknown): string {
  const said = error instanceof Error ? error.message : '';
  if (said.endsWith('in strip-only mode')) return ': Node.js only strips types; write it in plain JavaScript';
  if (said.includes('does not provide an export named')) return ': if it is a type, use `import type`';
  const { missing } = missingIn(said) ?? {};
  if (missing === undefined) return '';
  if (PACKAGE.test(missing)) return `: npm install ${missing}, beside the crawler`;
  const there = [missing.replace(/js$/, 'ts'), `${missing}.ts`, `${missing}.js`];
  const found = there.find((each) => existsSync(each));
  return found === undefined ? '' : `: did you mean ${shownPath(found)}?`;
}

function placeOf(file: string, error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const stack = String(error.stack);
  return compilersPlace(stack) ?? placesIn(stack).crawler ?? importersPlace(error.message) ?? checkedPlace(file, error);
}

/** Finds the place of code that doesn't compile, which Node.js puts before the error: `file:///here/shop.ts:2`. */
function compilersPlace(text: string): string | undefined {
  const found = /^(file:\/\/\S+|\/.+):(\d+)\n/.exec(text);
  return found === null ? undefined : `${shownPath(found[1] ?? '')}:${found[2]}`;
}

/** Finds the line that imports a missing file, for `Cannot find module '/here/part.ts' imported from /here/shop.ts`. */
function importersPlace(message: string): string | undefined {
  const found = missingIn(message);
  if (found === undefined) return undefined;
  const { missing, importer } = found;
  const name = missing.slice(missing.lastIndexOf('/') + 1);
  try {
    const lines = readFileSync(importer, 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes(name) && /['"]/.test(line));
    return at < 0 ? shownPath(importer) : `${shownPath(importer)}:${at + 1}`;
  } catch {
    return undefined;
  }
}

/** Reads the missing module, and the file that imports it, from an error message. */
function missingIn(message: string): { readonly missing: string; readonly importer: string } | undefined {
  const [what = '', importer, ...others] = message.split("' imported from ");
  const [, missing] = what.split(/^Cannot find (?:module|package) '/);
  if (missing === undefined || importer === undefined || others.length > 0) return undefined;
  return { missing, importer };
}

/** Finds the place of JavaScript that doesn't compile. The error doesn't have it, but `node --check` prints it. */
function checkedPlace(file: string, error: Error): string | undefined {
  if (!(error instanceof SyntaxError) || file.endsWith('.ts')) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 5_000 });
  return compilersPlace(stderr);
}
