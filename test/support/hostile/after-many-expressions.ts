import { execFileSync } from 'node:child_process';

/**
 * What a module prints that runs as in a process that has compiled many regular expressions: V8 no longer optimizes new
 * ones, and for each character of `\S+` keeps where to go back to, which ends within megabytes. In a process of its own,
 * since the flag is the whole process's.
 *
 * @param script the module. `at('shared/…')` is where a file of the project is.
 */
export function afterManyExpressions(script: string): unknown {
  const at = `const at = (path) => new URL(path, ${JSON.stringify(new URL('../../../', import.meta.url).href)}).href;`;
  const flags = ['--no-regexp-optimization', '--input-type=module'];
  return JSON.parse(execFileSync(process.execPath, [...flags, '-e', at + script], { maxBuffer: 2 ** 27 }).toString());
}
