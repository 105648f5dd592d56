'use strict';
// npm pack runs this first. Written in syntax that every Node.js can parse, so that an old one prints what to do instead of a stack.
var exists = require('node:fs').existsSync;
var join = require('node:path').join;

var wanted = 24;
var mend = 'npm ci --include=dev --ignore-scripts=false';
var isMissing = (tool) => !exists(join(__dirname, '../node_modules/.bin', tool));

if (['tsc', 'vite'].some(isMissing)) {
  // biome-ignore lint/suspicious/noConsole: what npm pack prints
  console.error("trawl: it can't be packed, since its compiler isn't installed: %s", mend);
  process.exitCode = 1;
} else if (parseInt(process.versions.node, 10) < wanted) {
  // biome-ignore lint/suspicious/noConsole: what npm pack prints
  console.error("trawl: it can't be packed by Node.js %s, but by %d or newer: %s", process.versions.node, wanted, mend);
  process.exitCode = 1;
}
