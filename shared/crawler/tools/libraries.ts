import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/*
 * The libraries behind the page tools and old encodings. Each is loaded on first use, so a crawl that needs none starts as fast and takes
 * as little memory as if they weren't there. Node.js caches modules, so a second call costs next to nothing.
 */

export function parse5(): typeof import('parse5') {
  return require('parse5');
}

export function treeAdapter(): typeof import('parse5-htmlparser2-tree-adapter') {
  return require('parse5-htmlparser2-tree-adapter');
}

export function cssSelect(): typeof import('css-select') {
  return require('css-select');
}

export function fontoxpath(): typeof import('fontoxpath') {
  return require('fontoxpath');
}

export function turndown(): typeof import('turndown') {
  return require('turndown');
}

export function multiByte(): typeof import('@exodus/bytes/multi-byte.js') {
  return require('@exodus/bytes/multi-byte.js');
}

export function whatwg(): typeof import('@exodus/bytes/whatwg.js') {
  // Registers the multi-byte encodings.
  require('@exodus/bytes/encoding.js');
  return require('@exodus/bytes/whatwg.js');
}
