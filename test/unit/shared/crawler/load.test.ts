import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const LOAD = join(import.meta.dirname, '../../../../shared/crawler/load.ts');
const OWN = (name: string): string =>
  `import { defineCrawler, type Page } from 'trawl';
export default defineCrawler({ name: '${name}', step: (page: Page) => ({ data: page.title }) });\n`;

/** What loading a crawler in a folder with these files comes to: its name, or the error. A process, for its own folder and hooks. */
async function loaded(files: Readonly<Record<string, string>>, name: string, takesPaths = true): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-load-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const script = `
    const { loadCrawler } = await import('${LOAD}');
    const crawler = await loadCrawler('${name}', { folder: 'mine', takesPaths: ${takesPaths} }).catch((error) => error);
    console.log(crawler instanceof Error ? crawler.message : crawler.name);`;
  return await new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], { cwd: folder }, (_error, stdout, stderr) =>
      resolve((stdout + stderr).trimEnd().replaceAll(folder, '/here')),
    );
  });
}

const COMMONJS = { 'package.json': '{ "type": "commonjs" }' };

// biome-ignore format: a table
test.each<[string, Readonly<Record<string, string>>, string, string]>([
  ['by its name, in the folder of crawlers',  { 'mine/shop.ts': OWN('mine') },                    'shop',         'mine'],
  ['by its path',                             { 'shop.ts': OWN('here') },                         './shop.ts',    'here'],
  ['by its file name',                        { 'shop.ts': OWN('here') },                         'shop.ts',      'here'],
  ['in JavaScript',                           { 'mine/shop.js': "import { defineCrawler } from 'trawl';\nexport default defineCrawler({ name: 'js', step() {} });" }, 'shop', 'js'],
  ['in a folder of CommonJS, with its parts', { ...COMMONJS, 'a.ts': OWN('part'), 'shop.ts': "export { default } from './a.ts';" }, './shop.ts', 'part'],
  ['that comes with Trawl',                   {},                                                 'page',         'page'],
  ['that stands for one of Trawl',            { 'mine/page.ts': OWN('own-page') },                'page',         'own-page'],
])('a crawler %s is loaded', async (_, files, name, expected) => {
  expect(await loaded(files, name)).toBe(expected);
});

// biome-ignore format: a table
test.each<[string, Readonly<Record<string, string>>, string, string]>([
  ['there is none',              {},                                  'shop',        'expected CRAWLER to be the name of a file in mine/ (CRAWLERS_DIR), without .ts, got "shop"'],
  ['it lies in the folder',      { 'shop.ts': OWN('x') },             'shop',        'expected CRAWLER to be the name of a file in mine/ (CRAWLERS_DIR), without .ts, got "shop": did you mean ./shop.ts?'],
  ['there is no such file',      {},                                  './shop.ts',   "expected CRAWLER to be a crawler's name or file: there is no /here/shop.ts"],
  ['it exports something else',  { 'mine/shop.ts': 'export default 1;' }, 'shop', "expected mine/shop.ts to export a crawler: export default defineCrawler({ name: 'shop', step: (page) => ({ … }) })"],
  ['it needs more than types stripped', { 'shop.ts': 'enum A { x }' }, './shop.ts',  "shop.ts can't be loaded: TypeScript enum is not supported in strip-only mode"],
])('an error says that %s', async (_, files, name, said) => {
  expect(await loaded(files, name)).toBe(said);
});

test('a fleet takes no paths: what a run says in Redis chooses no file', async () => {
  expect(await loaded({ 'shop.ts': OWN('x') }, './shop.ts', false)).toBe(
    'expected CRAWLER to be a name, as each worker of a fleet looks in its own mine/ (CRAWLERS_DIR), got "./shop.ts"',
  );
});
