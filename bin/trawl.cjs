#!/usr/bin/env node
'use strict';
// Written in syntax that every Node.js can parse, so that an old one prints what to do instead of a syntax error.
var versions = process.versions;
var found = versions.bun ? ['Bun', versions.bun] : versions.deno ? ['Deno', versions.deno] : [versions.node];
// Bun and Deno report the version of Node.js they imitate in `versions.node`, but lack parts of it.
var isOther = found.length > 1;
var wanted = 24;
var mend = isOther ? 'install it from https://nodejs.org/' : 'install a newer one from https://nodejs.org/';
// In a checkout `npm ci` installs a suitable Node.js, unless development packages or install scripts are left out.
if (process.env.npm_lifecycle_event === 'trawl' && process.env.npm_package_name === 'trawl')
  mend = 'npm ci --include=dev --ignore-scripts=false';

if (isOther || parseInt(versions.node, 10) < wanted) {
  // biome-ignore lint/suspicious/noConsole: an old Node.js can't parse template literals
  console.error(
    'trawl: expected Node.js %d or newer, found %s (%s): %s',
    wanted,
    found.join(' '),
    process.execPath,
    mend,
  );
  process.exitCode = 1;
} else {
  require('./start.cjs');
}
