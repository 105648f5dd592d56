'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

// Prefer the source: a checkout (`npm link` leads to one) has no compiled JavaScript, or a stale one from an earlier `npm pack`.
const source = join(__dirname, '../services/cli/trawl.ts');
const packed = join(__dirname, '../dist/services/cli/trawl.js');
import(pathToFileURL(existsSync(source) ? source : packed).href);
