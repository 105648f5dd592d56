'use strict';
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

// Before the program's first file is loaded: otherwise Node.js would strip its types again at each start.
enableCompileCache();

// Prefer the source: a checkout (`npm link` leads to one) has no compiled JavaScript, or a stale one from an earlier `npm pack`.
const source = join(__dirname, '../services/cli/trawl.ts');
const packed = join(__dirname, '../dist/services/cli/trawl.js');
const isCheckout = existsSync(source);

if (isCheckout || existsSync(packed)) {
  import(pathToFileURL(isCheckout ? source : packed).href).catch((error) => {
    const [, name] = /^Cannot find package '([^']+)'/.exec(error.message) ?? [];
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || name === undefined) throw error;
    fail(
      `the package ${name} isn't installed: ${isCheckout ? `npm ci, in ${join(__dirname, '..')}` : 'install trawl again'}`,
    );
  });
} else fail('it was packed without its program: pack it again, npm pack --ignore-scripts=false, and install that');

function fail(problem) {
  process.stderr.write(`trawl: ${problem}\n`);
  process.exitCode = 1;
}
