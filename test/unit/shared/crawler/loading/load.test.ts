import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../../..');
const CATALOGUE = join(ROOT, 'shared/crawler/loading/catalogue.ts');
const OWN = (name: string, more = ''): string =>
  `import { defineCrawler, type Page } from 'trawl';${more}
export default defineCrawler({ name: '${name}', step: (page: Page) => ({ data: page.title }) });\n`;

type Files = Readonly<Record<string, string>>;

interface Ran {
  readonly said: string;
  readonly code: number | null;
}

/** A folder with these files. */
async function folderOf(files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-load-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

/** Runs a script with the catalogue in a folder: in a process, which has its own working directory and hooks. */
async function run(folder: string, script: string): Promise<Ran> {
  await writeFile(join(folder, 'run.mjs'), `const { findCrawler, findAll } = await import('${CATALOGUE}');\n${script}`);
  return await new Promise((resolve) => {
    const child = execFile(process.execPath, ['run.mjs'], { cwd: folder }, (_error, stdout, stderr) =>
      resolve({ said: (stdout + stderr).trimEnd().replaceAll(folder, '/here'), code: child.exitCode }),
    );
  });
}

/** Looks for a crawler in a folder with these files: its name, or the error message. */
async function found(files: Files, name: string): Promise<string> {
  const script = `
    const found = await findCrawler('${name}', ['mine', 'more']).catch((error) => error);
    console.log(found instanceof Error ? found.message : found.crawler.name);`;
  return (await run(await folderOf(files), script)).said;
}

/** Lists all crawlers in these files by name and file, then every problem. */
async function all(files: Files, named = 'page'): Promise<string[]> {
  const script = `
    const { crawlers, problems } = await findAll(['mine', 'more'], '${named}');
    for (const { crawler, file } of crawlers) console.log(crawler.name + (file.endsWith('crawlers/page.ts') ? '' : ' ' + file));
    for (const problem of problems) console.log('!', problem);`;
  return (await run(await folderOf(files), script)).said.split('\n');
}

const COMMONJS = { 'package.json': '{ "type": "commonjs" }' };
const CJS = "require('trawl').defineCrawler({ name: 'js', step() {} });";
const JS = "import { defineCrawler } from 'trawl';\nexport default defineCrawler({ name: 'js', step() {} });";

// biome-ignore format: a table
test.each<[string, Files, string, string]>([
  ['by its name, in the folder of crawlers',  { 'mine/shop.ts': OWN('shop') },                    'shop',         'shop'],
  ['by its name, in the second folder',       { 'more/shop.ts': OWN('shop') },                    'shop',         'shop'],
  ['by its name, in a file of another name',  { 'mine/a.ts': OWN('shop'), 'mine/b.ts': OWN('b') }, 'shop',        'shop'],
  ['by the name of its file',                 { 'mine/shop.ts': OWN('mine') },                    'shop',         'mine'],
  ['by its name before its file name',        { 'mine/shop.ts': OWN('x'), 'mine/z.ts': OWN('shop') }, 'shop',     'shop'],
  ['beside a broken one',                     { 'mine/a.ts': 'const', 'mine/shop.ts': OWN('shop') }, 'shop',      'shop'],
  ['by its path',                             { 'shop.ts': OWN('here') },                         './shop.ts',    'here'],
  ['by its file name',                        { 'shop.ts': OWN('here') },                         'shop.ts',      'here'],
  ['in JavaScript',                           { 'mine/shop.js': JS },                             'js',           'js'],
  ['in CommonJS',                             { ...COMMONJS, 'mine/shop.js': `module.exports = ${CJS}` }, 'js',   'js'],
  ['in CommonJS compiled from TypeScript',    { ...COMMONJS, 'mine/shop.js': `exports.__esModule = true;\nexports.default = ${CJS}` }, 'js', 'js'],
  ['in a CommonJS folder, with its imports',  { ...COMMONJS, 'a.ts': OWN('part'), 'shop.ts': "export { default } from './a.ts';" }, './shop.ts', 'part'],
  ['that comes with Trawl',                   {},                                                 'page',         'page'],
  ["that replaces one of Trawl's",            { 'mine/page.ts': OWN('own-page') },                'page',         'own-page'],
])('a crawler %s is found', async (_, files, name, expected) => {
  expect(await found(files, name)).toBe(expected);
});

const WHERE = 'expected CRAWLER to be the name of a crawler in mine/ or more/ (CRAWLERS_DIR), or its file';

// biome-ignore format: a table
test.each<[string, Files, string, string]>([
  ['there is no such crawler',            {},                                       'shop',      `${WHERE}, got "shop"`],
  ['its file lies in the working folder', { 'shop.ts': OWN('x') },                  'shop',      `${WHERE}, got "shop": did you mean ./shop.ts?`],
  ['another has a similar name',          { 'mine/shop.ts': OWN('shop') },          'shpo',      `${WHERE}, got "shpo": did you mean shop?`],
  ['there is no such file',               {},                                       './shop.ts', "expected CRAWLER to be a crawler's name or file: there is no /here/shop.ts"],
  ['it exports something else',           { 'mine/shop.ts': 'export default 1;' },  'shop',      "expected mine/shop.ts to export a crawler: export default defineCrawler({ name: 'shop', step: (page) => ({ … }) })"],
  ['it needs more than type stripping', { 'shop.ts': '\nenum A { x }' },    './shop.ts', "shop.ts:2 can't be loaded: SyntaxError: TypeScript enum is not supported in strip-only mode: Node.js only strips types; write it in plain JavaScript"],
  ['it is no TypeScript',                 { 'shop.ts': 'let a;\nlet b = ;' },       './shop.ts', "shop.ts:2 can't be loaded: SyntaxError: Expression expected"],
  ['it is no JavaScript',                 { 'shop.mjs': 'let a;\nlet b = ;' },      './shop.mjs', "shop.mjs:2 can't be loaded: SyntaxError: Unexpected token ';'"],
  ['it is no JavaScript, in a path with a space', { 'my shop/shop.mjs': 'let a;\nlet b = ;' }, './my shop/shop.mjs', "my shop/shop.mjs:2 can't be loaded: SyntaxError: Unexpected token ';'"],
  ['it throws',                           { 'shop.ts': 'let a: number;\nthrow new Error("no key");' }, './shop.ts', "shop.ts:2 can't be loaded: no key"],
  ['a module it imports throws',          { 'shop.ts': 'import "./a.ts";', 'a.ts': '\nnull.x;' }, './shop.ts', "a.ts:2 can't be loaded: TypeError: Cannot read properties of null (reading 'x')"],
  ['a module it imports is missing',      { 'shop.ts': '\nimport "./part.ts";' },   './shop.ts', "shop.ts:2 can't be loaded: Cannot find module '/here/part.ts' imported from /here/shop.ts"],
  ['an import ends in .js instead of .ts', { 'shop.ts': '\nimport "./part.js";', 'part.ts': '' }, './shop.ts', "shop.ts:2 can't be loaded: Cannot find module '/here/part.js' imported from /here/shop.ts: did you mean part.ts?"],
  ['an import lacks its extension', { 'shop.ts': '\nimport "./part";', 'part.ts': '' }, './shop.ts', "shop.ts:2 can't be loaded: Cannot find module '/here/part' imported from /here/shop.ts: did you mean part.ts?"],
  ['an import in a path with an apostrophe is missing', { "it's/shop.ts": '\nimport "./part.ts";' }, "./it\\'s/shop.ts", "it's/shop.ts:2 can't be loaded: Cannot find module '/here/it's/part.ts' imported from /here/it's/shop.ts"],
  ['a type is imported as a value', { 'shop.ts': "import { Crawler } from 'trawl';\nlet a: Crawler;" }, './shop.ts', "shop.ts:1 can't be loaded: SyntaxError: The requested module 'trawl' does not provide an export named 'Crawler': if it is a type, use `import type`"],
  ['a package it imports is missing',     { 'shop.ts': '\nimport "left-pad";' },    './shop.ts', "shop.ts:2 can't be loaded: Cannot find package 'left-pad' imported from /here/shop.ts: npm install left-pad, beside the crawler"],
  ['a package of an owner is missing, which a file is named like', { 'shop.ts': '\nimport "@a/part";', '@a/part.ts': '' }, './shop.ts', "shop.ts:2 can't be loaded: Cannot find package '@a/part' imported from /here/shop.ts: npm install @a/part, beside the crawler"],
  ['it adds a field to every object',     { 'shop.ts': `Object.prototype.last = 1;\n${OWN('shop')}` }, './shop.ts', "shop.ts adds a field to every object (Object.prototype), or imports a module that does: last. Object.defineProperty adds one that loops skip"],
  ['its definition is invalid',           { 'shop.ts': "\nimport { defineCrawler } from 'trawl';\nexport default defineCrawler({ name: 'x y', steps: {} });" }, './shop.ts',
    'shop.ts:3: crawler x y: expected a name of letters, digits and hyphens, at most 63\nshop.ts:3: crawler x y: expected steps, by their names: { start: { run({ page }) { … } } }'],
])('an error says that %s', async (_, files, name, said) => {
  expect(await found(files, name)).toBe(said);
});

test('all crawlers of all folders are loaded, and every problem of every file is named', async () => {
  const files = {
    'mine/a.ts': OWN('one'),
    'mine/b.ts': 'let b = ;',
    'mine/c.ts': '\nthrow new Error("no key");',
    'mine/d.ts': 'export const x = 1;',
    'mine/a.test.ts': 'a test is no crawler',
    'mine/parts/part.ts': 'nor is what lies deeper',
    'more/a.ts': OWN('one'),
    'more/z.ts': OWN('two'),
  };
  expect(await all(files)).toEqual([
    ...['one mine/a.ts', 'one more/a.ts', 'two more/z.ts', 'page'],
    "! mine/b.ts:1 can't be loaded: SyntaxError: Expression expected",
    "! mine/c.ts:2 can't be loaded: no key",
    "! expected mine/d.ts to export a crawler: export default defineCrawler({ name: 'shop', step: (page) => ({ … }) })",
    '! more/a.ts: its name, one, is also that of mine/a.ts',
  ]);
});

test('files loaded before are loaded again without the watchdog', async () => {
  const folder = await folderOf({ 'crawlers/a.ts': OWN('a'), 'crawlers/b.ts': OWN('b') });
  const script = `let threads = 0;
    process.on('worker', () => threads++);
    const look = async (name) => {
      const { crawler } = await findCrawler(name, ['crawlers']).catch(() => ({ crawler: { name: 'none' } }));
      console.log(crawler.name, threads);
    };
    for (const name of ['a', 'a', 'nix', 'nix', 'b']) await look(name);
    const { writeFileSync } = await import('node:fs');
    writeFileSync('crawlers/middleware.ts', "export { default } from './none.ts';");
    await look('a');`;
  expect((await run(folder, script)).said.split('\n')).toEqual(['a 1', 'a 1', 'none 2', 'none 2', 'b 2', 'none 3']);
});

test('a crawler named by its path is listed, and replaces one of the same name', async () => {
  const files = { 'mine/shop.ts': OWN('shop'), 'mine/page.ts': OWN('page'), 'my/shop.ts': OWN('shop') };
  expect(await all(files, './my/shop.ts')).toEqual(['shop my/shop.ts', 'page mine/page.ts']);
});

test('neither a module nor a step can end the process', async () => {
  const files = {
    'mine/ends.ts': 'process.exit(0);',
    'mine/shop.ts':
      "import { defineCrawler } from 'trawl';\nexport default defineCrawler({ name: 'shop', step: () => process.exit(0) });",
  };
  const script = `
    const { crawlers, problems } = await findAll(['mine', 'more'], 'shop');
    console.log(problems.join());
    const shop = crawlers.find(({ crawler }) => crawler.name === 'shop');
    try { shop.crawler.pageFunction(); } catch (error) { console.log(error.message); }
    process.exitCode = 3;`;
  const said = "a crawler can't end the process (process.exit): throw an error instead";
  expect(await run(await folderOf(files), script)).toEqual({
    said: `mine/ends.ts:1 can't be loaded: ${said}\n${said}`,
    code: 3,
  });
});

test('a module that takes longer than 10 s is given up, and the others are still loaded', async () => {
  const files = { 'mine/late.ts': 'await new Promise(() => {});', 'mine/wrong.ts': '', 'mine/shop.ts': OWN('shop') };
  const [late, ...others] = (await all(files)).filter((line) => line.startsWith('!'));
  expect(late).toBe('! mine/late.ts takes longer than 10 s to load');
  expect(others).toEqual([expect.stringContaining('expected mine/wrong.ts to export')]);
}, 60_000);

test('a module that blocks the process forever ends it with the exit code for wrong settings, after the others are checked', async () => {
  const folder = await folderOf({
    'mine/a.ts': 'let a = ;',
    'mine/b.ts': '\nfor (;;);',
    'mine/c.ts': OWN('c'),
    'mine/d.ts': '',
    'mine/e.ts': 'for (;;);',
    'mine/f.ts': 'let f = ;',
  });
  const { said, code } = await run(folder, "await findAll(['mine'], 'page');");
  expect(code).toBe(78);
  expect(said.split('\n')).toEqual([
    'trawl: stuck for 10 s at mine/b.ts:2: this process ends',
    'mine/b.ts takes longer than 10 s to load.',
    "mine/a.ts:1 can't be loaded: SyntaxError: Expression expected",
    'trawl: stuck for 10 s at mine/e.ts:1: this process ends',
    'mine/e.ts takes longer than 10 s to load.',
    expect.stringContaining('expected mine/d.ts to export a crawler'),
    "mine/f.ts:1 can't be loaded: SyntaxError: Expression expected",
  ]);
}, 60_000);

test("the author's own dependencies are found, including another copy of zod", async () => {
  const folder = await folderOf({
    'my/node_modules/own/package.json': '{ "name": "own", "type": "module", "exports": "./index.js" }',
    'my/node_modules/own/index.js': 'export const category = "books";',
    'my/shop.ts': `import { defineCrawler } from 'trawl';
import { category } from 'own';
import { z } from 'zod';
export default defineCrawler({
  name: 'shop',
  args: z.object({ category: z.string().default(category), most: z.number() }),
  steps: {
    start: { to: ['product'], run({ follow }) { follow('product', '/p/1', { kept: { sku: 'a' } }); } },
    product: { keeps: z.object({ sku: z.string() }), record: z.object({ sku: z.string() }), run() {} },
  },
});`,
  });
  await cp(join(ROOT, 'node_modules/zod'), join(folder, 'my/node_modules/zod'), { recursive: true });
  const script = `
    const { argsOf } = await import('${join(ROOT, 'shared/crawler/args.ts')}');
    const { crawler } = await findCrawler('my/shop.ts', []);
    console.log(JSON.stringify(argsOf(crawler, { most: '3' })));
    try { argsOf(crawler, { most: 'x' }); } catch (error) { console.log(error.message); }`;
  expect((await run(folder, script)).said.split('\n')).toEqual([
    '{"category":"books","most":3}',
    '--arg most: Invalid input: expected number, received string (got "x")',
  ]);
});

/** The version of the crawler `shop` in a folder with these files. */
async function versionOf(files: Files): Promise<string> {
  const script = "console.log((await findCrawler('./shop/shop.ts', [])).version);";
  return (await run(await folderOf(files), script)).said;
}

test('the version of a crawler depends on its file and on its imports below its folder', async () => {
  const base: Files = {
    'shop/shop.ts': OWN('shop', "import './parts/a.ts';import '../beside.ts';import 'own';"),
    'shop/parts/a.ts': "import './b.ts';",
    'shop/parts/b.ts': 'export const b = 1;',
    'shop/unused.ts': '',
    'beside.ts': '',
    'node_modules/own/package.json': '{ "name": "own", "type": "module", "exports": "./index.js" }',
    'node_modules/own/index.js': '',
  };
  const first = await versionOf(base);
  expect(first).toMatch(/^[0-9a-f]{8}$/);
  const changed = async (file: string): Promise<boolean> =>
    (await versionOf({ ...base, [file]: `${base[file]}\n// changed` })) !== first;
  expect(await changed('shop/shop.ts')).toBe(true);
  expect(await changed('shop/parts/b.ts')).toBe(true);
  for (const file of ['shop/unused.ts', 'beside.ts', 'node_modules/own/index.js'])
    expect(await changed(file), file).toBe(false);
  expect(await versionOf(base), 'wherever it lies').toBe(first);
});

test('a crawlers folder that is a file is reported with its setting, and a missing one counts as empty', async () => {
  expect(await found({ mine: '' }, 'nosuch')).toBe(
    "expected CRAWLERS_DIR to be a folder that can be read: ENOTDIR: not a directory, scandir '/here/mine'",
  );
  expect(await found({ 'more/shop.ts': OWN('shop') }, 'shop')).toBe('shop');
});
