import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CookieJar } from '../../shared/cookies/cookie-jar.ts';

/* The package has JavaScript that `scripts/build-package.ts` makes; all other tests run the source. */

const ROOT = join(import.meta.dirname, '../..');
const COMPILES_MS = 120_000;
/** TypeScript's own name for a class within itself, as that of a property: of `const { CookieJar: Jar } = …` in `class CookieJar`. */
const RENAMED = /[{,]\s*_[a-z]\s*:/;
let dist = '';

beforeAll(() => {
  // Below node_modules, where its imports are found.
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  dist = mkdtempSync(join(cache, 'trawl-compiled-'));
  writeFileSync(join(dist, 'package.json'), '{ "type": "module" }');
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', dist], { cwd: ROOT });
}, COMPILES_MS);

afterAll(() => rmSync(dist, { recursive: true, force: true }));

test('the compiler renames no property', () => {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => RENAMED.test(readFileSync(join(dist, file), 'utf8')))).toEqual([]);
});

test('a compiled jar keeps cookies: without it no login of a package works', async () => {
  const compiled = pathToFileURL(join(dist, 'shared/cookies/cookie-jar.js')).href;
  const { CookieJar: Compiled } = (await import(compiled)) as { readonly CookieJar: typeof CookieJar };
  const jar = new Compiled();
  await jar.keep('https://shop.test/login', ['sid=1; Path=/; HttpOnly']);
  expect(jar.headerFor('https://shop.test/orders')).toBe('sid=1');
});
