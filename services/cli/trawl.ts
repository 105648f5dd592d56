#!/usr/bin/env node
import { statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';

// Must come before every other import: each version of a file is then stripped of types and compiled only once.
enableCompileCache();
const problem = folderProblem();
if (problem === undefined) {
  try {
    const { main } = await import('./main.ts');
    await main(process.argv);
  } catch (error: unknown) {
    // A package.json that can't be opened for that has another code, and says so in its message only.
    const said = `${(error as { readonly code?: unknown } | null)?.code} ${error}`;
    if (!/\bE[MN]FILE\b|too many open files/.test(said)) throw error;
    // Nothing else can be loaded to say so.
    process.stderr.write('trawl: too many open files, before it had started: raise the limit (ulimit -n 4096)\n');
    process.exitCode = 1;
  }
} else {
  process.stderr.write(`trawl: ${problem}\n`);
  process.exitCode = 1;
}

/** Returns what is wrong with the current folder, if anything: without its path, most modules can't be loaded. */
function folderProblem(): string | undefined {
  let path = '';
  try {
    path = process.cwd();
  } catch {
    return 'the current folder no longer exists: change to another one (cd)';
  }
  return leadsHere(path)
    ? undefined
    : 'the path of the current folder is not text in UTF-8: rename it, or change to another one (cd)';
}

/** Does the path lead to the current folder? One that isn't UTF-8 names another folder once Node.js has read it. */
function leadsHere(path: string): boolean {
  try {
    const [named, actual] = [statSync(path, { throwIfNoEntry: false }), statSync('.')];
    return named?.ino === actual.ino && named.dev === actual.dev;
  } catch {
    // A folder above may be closed to this user, which doesn't matter here.
    return true;
  }
}
