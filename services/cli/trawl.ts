#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// All else is loaded after this: types are stripped, and code is compiled, once per version of a file.
enableCompileCache();
if (hasFolder()) {
  const { main } = await import('./main.ts');
  await main(process.argv);
} else {
  process.stderr.write('trawl: the folder that this was started in is no longer there: go to another one (cd)\n');
  process.exitCode = 1;
}

/** Is the folder still there that the process was started in? Without it no path can be read, nor most modules loaded. */
function hasFolder(): boolean {
  try {
    return process.cwd() !== '';
  } catch {
    return false;
  }
}
