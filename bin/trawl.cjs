#!/usr/bin/env node
'use strict';
// In words that every Node.js can parse: an old one is told what to do, not where it stumbled.
var found = process.versions.node;
var wanted = 24;

if (parseInt(found, 10) < wanted) {
  process.stderr.write(
    'trawl: expected Node.js ' +
      wanted +
      ' or newer, found ' +
      found +
      ' (' +
      process.execPath +
      '): install a newer one from https://nodejs.org/\n',
  );
  process.exitCode = 1;
} else {
  require('./start.cjs');
}
