#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Must come before every other import: each version of a file is then stripped of types and compiled only once.
enableCompileCache();
if (hasFolder()) {
  const { main } = await import('./main.ts');
  await main(process.argv);
} else {
  process.stderr.write('trawl: the current folder no longer exists: change to another one (cd)\n');
  process.exitCode = 1;
}

/** Does the current folder still exist? Without it, no path can be resolved and most modules can't be loaded. */
function hasFolder(): boolean {
  try {
    return process.cwd() !== '';
  } catch {
    return false;
  }
}
