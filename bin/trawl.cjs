#!/usr/bin/env node
'use strict';
// In words that every Node.js can parse: an old one is told what to do, not where it stumbled.
var versions = process.versions;
var found = versions.bun ? ['Bun', versions.bun] : versions.deno ? ['Deno', versions.deno] : [versions.node];
// They say which Node.js they resemble, and lack parts of it.
var isOther = found.length > 1;
var wanted = 24;
var mend = isOther ? 'install it from https://nodejs.org/' : 'install a newer one from https://nodejs.org/';
// `npm ci` gives a checkout one of its own, unless it leaves out development packages or scripts.
if (process.env.npm_lifecycle_event === 'trawl' && process.env.npm_package_name === 'trawl')
  mend = 'npm ci --include=dev --ignore-scripts=false';

if (isOther || parseInt(versions.node, 10) < wanted) {
  // biome-ignore lint/suspicious/noConsole: it puts words together without a template, which an old one can't read
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
