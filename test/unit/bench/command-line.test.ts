import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

const files = globSync('{bench,scripts}/**/*.ts').filter((file) => file !== 'bench/command-line.ts');
const sourceOf = (file: string): string => readFileSync(file, 'utf8');
/** All that a person or another script starts. */
const scripts = files.filter((file) => /^(?:const .*|\} = |)readCommandLine\(/m.test(sourceOf(file)));

/** The exit code of a script, and what it said. */
async function ended(script: string, ...args: string[]) {
  const {
    code = 0,
    stdout,
    stderr,
  } = await run(process.execPath, [script, ...args], { timeout: 60_000 }).catch((error) => error);
  return { code, stdout, stderr };
}

test('whatever is started reads its command line in one way', () => {
  const { scripts: named } = JSON.parse(sourceOf('package.json')) as { scripts: Record<string, string> };
  const started = Object.values(named).flatMap((line) => line.match(/\b(?:bench|scripts)\/\S+\.ts/g) ?? []);
  expect(started.filter((file) => !scripts.includes(file))).toEqual([]);
  expect(files.filter((file) => sourceOf(file).includes('process.argv'))).toEqual([]);
  expect(scripts.length).toBeGreaterThanOrEqual(17);
});

test.concurrent.each(scripts)('%s says how it is used, and does nothing', async (script) => {
  const { code, stdout, stderr } = await ended(script, '--help');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: \S.*\n\S/);
});

test.each([
  [['--nix'], /Unknown option '--nix'/],
  [['--rounds'], /'--rounds <value>' argument missing/],
  [['--rounds', 'many'], /expected --rounds to be a number, got "many"/],
  [['--full=yes'], /'--full' does not take an argument/],
  [['rounds', '3'], /expected 0 operands, got 2/],
])('%s is refused before anything is measured', async (args, problem) => {
  const { code, stdout, stderr } = await ended('bench/bench.ts', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(problem);
  expect(stderr).toContain('Usage: npm run bench -- [--rounds 2]');
});
