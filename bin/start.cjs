'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

// A checkout, which `npm link` leads to, has no JavaScript, or that of an earlier `npm pack`.
const source = join(__dirname, '../services/cli/trawl.ts');
const packed = join(__dirname, '../dist/services/cli/trawl.js');
import(pathToFileURL(existsSync(source) ? source : packed).href);
