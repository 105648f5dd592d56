import { execFileSync } from 'node:child_process';

/**
 * Runs a module as in a process that has compiled many regular expressions, and returns what it prints. V8 no longer optimizes new
 * ones, and for each character of `\S+` stores where to backtrack to, which ends within megabytes. Uses a separate process,
 * as the flag applies to a whole process.
 *
 * @param script the module; in it, `at('shared/…')` is the URL of a file of the project
 */
export function afterManyExpressions(script: string): unknown {
  const at = `const at = (path) => new URL(path, ${JSON.stringify(new URL('../../../', import.meta.url).href)}).href;`;
  const flags = ['--no-regexp-optimization', '--input-type=module'];
  return JSON.parse(execFileSync(process.execPath, [...flags, '-e', at + script], { maxBuffer: 2 ** 27 }).toString());
}
