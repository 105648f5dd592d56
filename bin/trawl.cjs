#!/usr/bin/env node
'use strict';
// In words that every Node.js can parse: an old one is told what to do, not where it stumbled.
var found = process.versions.node;
var wanted = 24;
// `npm ci` gives a checkout one of its own, unless it leaves out development packages or scripts.
var isByScript = process.env.npm_lifecycle_event === 'trawl' && process.env.npm_package_name === 'trawl';
var mend = isByScript ? 'npm ci --include=dev --ignore-scripts=false' : 'install a newer one from https://nodejs.org/';

if (parseInt(found, 10) < wanted) {
  process.stderr.write(
    // biome-ignore lint/style/useTemplate: an old one can't read a template
    'trawl: expected Node.js ' + wanted + ' or newer, found ' + found + ' (' + process.execPath + '): ' + mend + '\n',
  );
  process.exitCode = 1;
} else {
  require('./start.cjs');
}
