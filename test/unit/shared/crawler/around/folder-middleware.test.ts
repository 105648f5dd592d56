import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const CATALOGUE = join(import.meta.dirname, '../../../../../shared/crawler/loading/catalogue.ts');
const SHOP = `import { defineCrawler } from 'trawl';
export default defineCrawler({ name: 'shop', middleware: [{ name: 'own', transform() {} }], step: () => ({}) });`;
const MIDDLEWARE = `import { defineMiddleware } from 'trawl';
import { note } from './parts/part.ts';
export default defineMiddleware({ name: 'first', afterFetch: note }, { name: 'late', weight: 5, beforeStore: note });`;

type Files = Readonly<Record<string, string>>;

/** Lists what a folder with these files holds: its crawlers, each with its middleware and version, then every problem. */
async function found(files: Files): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-load-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'mine', 'parts'), { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, 'mine', file), text);
  await writeFile(
    join(folder, 'run.mjs'),
    `const { findAll } = await import('${CATALOGUE}');
     const { crawlers, problems } = await findAll(['mine'], 'shop');
     for (const { crawler, version, file } of crawlers)
       if (!file.endsWith('crawlers/page.ts')) console.log(crawler.name, crawler.middleware.map(({ name }) => name).join(), version);
     for (const problem of problems) console.log('!', problem);`,
  );
  return await new Promise((resolve) => {
    execFile(process.execPath, ['run.mjs'], { cwd: folder }, (_, stdout, stderr) =>
      resolve((stdout + stderr).trimEnd().split('\n')),
    );
  });
}

test("a folder's middleware applies to its crawlers, runs before their own of the same weight, and counts in their versions", async () => {
  const files = { 'shop.ts': SHOP, 'middleware.ts': MIDDLEWARE, 'parts/part.ts': 'export const note = () => {};' };
  const [shop = '', ...others] = await found({ 'shop.ts': SHOP });
  const [around = ''] = await found(files);
  const [changed = ''] = await found({ ...files, 'parts/part.ts': 'export const note = () => undefined;' });
  expect(others).toEqual([]);
  expect(shop).toMatch(/^shop own [0-9a-f]{8}$/);
  expect([around, changed]).toEqual(Array(2).fill(expect.stringMatching(/^shop first,own,late [0-9a-f]{8}$/)));
  expect(new Set([shop, around, changed].map((line) => line.split(' ')[2])).size).toBe(3);
});

// biome-ignore format: a table
test.each<[string, string, string]>([
  ['exports something else',     'export default {};', '! expected mine/middleware.ts to export the middleware of its folder: export default defineMiddleware({ name, beforeFetch() {} })'],
  ['defines invalid middleware', "import { defineMiddleware } from 'trawl';\nexport default defineMiddleware({ name: 'a' } as never);", '! mine/middleware.ts: middleware a: expected one of beforeFetch, afterFetch, transform, beforeStore'],
  ['throws',                     '\nthrow new Error("no key");', "! mine/middleware.ts:2 can't be loaded: no key"],
])('a middleware file that %s is reported with its path', async (_, text, problem) => {
  expect(await found({ 'shop.ts': SHOP, 'middleware.ts': text })).toEqual(expect.arrayContaining([problem]));
});
