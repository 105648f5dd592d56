import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { TestSite } from '../support/site.ts';
import { CHECKOUT, done, openFolder, run } from './installing.ts';

/** Timeout of a test that installs from npm's registry and runs the result. */
const INSTALLS_MS = 300_000;

const site = new TestSite({ pages: 3 });
const folders: string[] = [];
let tarball = '';

async function folderFor(name: string): Promise<string> {
  const folder = await openFolder(name);
  folders.push(folder);
  return folder;
}

beforeAll(async () => {
  await site.start();
  const folder = await mkdtemp(join(tmpdir(), 'trawl-packed-'));
  folders.push(folder);
  const packed = await done(['npm', 'pack', '--pack-destination', folder], { cwd: CHECKOUT });
  tarball = join(folder, packed.trim().split('\n').at(-1) ?? '');
});

afterAll(async () => {
  await site.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

interface CrawlOptions extends Omit<Parameters<typeof run>[1], 'cwd'> {
  readonly crawler?: string;
}

/** Crawls with a crawler of the folder, and runs the printed command that reads the records. Returns that command. */
async function crawlIn(
  cwd: string,
  trawl: readonly string[],
  { crawler = './shop.ts', ...options }: CrawlOptions = {},
) {
  const name = `r-${crawler.replace(/\W/g, '')}`;
  const words = [...trawl, 'crawl', site.url('/'), '--crawler', crawler, '--run', name, ...AT_FULL_SPEED];
  const said = await done(words, { cwd, ...options });
  const hint = /read them with: (.*)\)/.exec(said)?.[1] ?? '';
  const records = (await done(['sh', '-c', hint], { cwd, ...options })).trimEnd().split('\n');
  const data = records.map((record) => JSON.parse(record).data);
  expect(data).toHaveLength(3);
  expect(data).toEqual(data.map(() => ({ name: expect.stringMatching(/./), price: 3 })));
  return hint.replace(name, 'RUN');
}

describe('the package, installed into a folder', () => {
  let cwd = '';
  const trawl = (...args: string[]) => run(['npx', 'trawl', ...args], { cwd });

  beforeAll(async () => {
    cwd = await folderFor('local');
    await done(['npm', 'install', tarball], { cwd });
  });

  test('crawls by npx trawl with crawlers of that folder, and prints commands with npx trawl', async () => {
    for (const crawler of ['./shop.ts', 'named']) {
      expect(await crawlIn(cwd, ['npx', 'trawl'], { crawler })).toBe('npx trawl records RUN');
    }
  });

  test('runs the demo without anything else', async () => {
    const { code, stdout, stderr } = await trawl('demo');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Run \S+ is under way.*\n$/)]);
    expect(stdout).toContain('41 done');
  });

  test('reports errors of a crawler with its file and line in that folder', async () => {
    await trawl('crawl', site.url('/'), '--crawler', './broken.ts', '--run', 'b', ...AT_FULL_SPEED);
    const { stdout } = await trawl('records', 'b', '--failed');
    expect(JSON.parse(stdout.split('\n')[0] ?? '').error).toMatch(/^broken\.ts:3: SyntaxError: /);
  });

  test('has a watchdog, compiled to JavaScript here, that names a crawler which blocks its process', async () => {
    const options = ['--crawler', './endless.ts', '--run', 'e', '--step-timeout', '100ms', ...AT_FULL_SPEED];
    const { code, stderr } = await trawl('crawl', site.url('/'), ...options);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^trawl: stuck for 10 s at endless\.ts:6, /m);
    expect(stderr).toMatch(/^Resume with: npx trawl crawl --resume e$/m);
  });

  test('lets a program import crawl()', async () => {
    const program = `import { defineCrawler } from 'trawl';
import { type CrawlOptions, crawl } from 'trawl/crawl';

const crawler = defineCrawler({ name: 'titles', step: (page) => ({ data: page.title }) });
const options: CrawlOptions = { crawler, rate: 'none', privateHosts: ['127.0.0.0/8'], robots: 'ignore' };
const titles: unknown[] = [];
const crawled = crawl('${site.url('/')}', options);
for await (const record of crawled) if (record.outcome === 'done') titles.push(record.data);
console.log(JSON.stringify([titles.toSorted(), crawled.summary?.done]));
`;
    await writeFile(join(cwd, 'program.mts'), program);
    const titles = ['Page 1', 'Page 2', 'Page 3'];
    expect(JSON.parse(await done(['node', 'program.mts'], { cwd }))).toEqual([titles, 3]);
  });

  test('has types that find mistakes in crawlers and programs', async () => {
    const wrong = `import { defineCrawler } from 'trawl';
export default defineCrawler({ name: 'typed', step: (page) => ({ data: page.titel }) });
`;
    await writeFile(join(cwd, 'typed.ts'), wrong);
    const named = `import { defineMiddleware, type JoinInput, type RequestInSight } from 'trawl';
export const isOurs = ({ url }: RequestInSight): boolean => url.startsWith('https://shop.example/');
export const pricesOf = (inputs: readonly JoinInput[]): unknown[] => inputs.flatMap(({ records }) => records);
export default defineMiddleware({ name: 'stamp', transform: (item) => ({ ...item, by: 'us' }) });
`;
    await writeFile(join(cwd, 'named.ts'), named);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const flags = [
      ...strict,
      ...['--noEmit', '--declaration', '--allowImportingTsExtensions', '--target', 'es2024', '--module', 'nodenext'],
    ];
    const crawling = `import { crawl } from 'trawl/crawl';
for await (const { url } of crawl([], { maxDeph: 2 })) console.log(url);
`;
    await writeFile(join(cwd, 'crawling.mts'), crawling);
    const files = ['shop.ts', 'typed.ts', 'named.ts', 'crawling.mts'];
    const tsc = [join(CHECKOUT, 'node_modules/.bin/tsc'), ...flags, '--types', '', ...files];
    const { stdout } = await run(tsc, { cwd });
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^crawling\.mts\(2,\d+\): error TS2561: .* Did you mean to write 'maxDepth'\?$/),
      expect.stringMatching(/^typed\.ts\(2,\d+\): error TS2551: Property 'titel' does not exist on type 'Page'/),
    ]);
  });

  test('has types whose errors point at the mistake, in the oldest TypeScript that reads them, too', async () => {
    const steps = `import { defineCrawler, z } from 'trawl';
export const typo = defineCrawler({
  name: 'typo',
  patterns: { prodct: '/product/*' },
  steps: {
    list: { to: ['prodct'], run: ({ page, follow }) => follow('prodct', page.links('a.product')) },
    product: { record: z.object({ name: z.string() }), run: ({ page, emit }) => emit({ name: page.get('h1') }) },
  },
});
export const grouped = defineCrawler({
  name: 'grouped',
  steps: { list: { to: ['product'], run() {} }, product: { run() {} } },
  joins: { offer: { per: 'prodct', of: ['product'], run: ({ emit }) => emit({}) } },
});
export const neither = defineCrawler({ name: 'neither', steps: { page: { run: ({ page, emit }) => emit(page.title) } } });
`;
    await writeFile(join(cwd, 'typo.mts'), steps);
    await done(['npm', 'install', '--no-save', '--prefix', 'oldest', 'typescript@5.7'], { cwd });
    const flags = ['--strict', '--noEmit', '--target', 'es2024', '--module', 'nodenext', '--lib', 'es2024,dom'];
    for (const root of [join(cwd, 'oldest'), CHECKOUT]) {
      const { stdout } = await run([join(root, 'node_modules/.bin/tsc'), ...flags, 'typo.mts'], { cwd });
      expect(stdout.split('\n').filter((line) => line.startsWith('typo.mts'))).toEqual([
        expect.stringMatching(/^typo\.mts\(4,15\): error TS\d+: .*'prodct' does not exist/),
        expect.stringMatching(/^typo\.mts\(6,13\): error TS\d+: Type '\["prodct"\]' is not assignable/),
        expect.stringMatching(/^typo\.mts\(13,21\): error TS\d+: .*ExpectedStep<.*"list".*>/),
      ]);
    }
  });

  test('has every file that is read at run time', () => {
    const dist = join(cwd, 'node_modules/trawl/dist/shared');
    const [packed, own] = [dist, join(CHECKOUT, 'shared')].map((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(lua|sql)$/.test(file)),
    );
    expect(own?.length).toBeGreaterThan(40);
    expect(packed?.toSorted()).toEqual(own?.toSorted());
  });

  test(
    'has a trawl init whose folder can be installed, tested, type-checked and crawled with',
    async () => {
      const said = await done(['npx', 'trawl', 'init', 'teapots'], { cwd });
      const folder = join(cwd, 'teapots');
      const steps = said.split('\n').filter((line) => line.startsWith('  npm '));
      expect(steps).toEqual(['  npm install', '  npm test']);
      for (const step of steps) await done(['sh', '-c', step], { cwd: folder });
      const tsc = [join(CHECKOUT, 'node_modules/.bin/tsc'), '-p', '.'];
      await done(tsc, { cwd: folder });
      // Node.js, which only strips types, would refuse both when it loads the crawler.
      const unloadable =
        "import { Task } from 'trawl';\nexport enum Size { S, M }\nexport const urlOf = (task: Task): string => task.url;\n";
      await writeFile(join(folder, 'unloadable.ts'), unloadable);
      const { stdout } = await run(tsc, { cwd: folder });
      await rm(join(folder, 'unloadable.ts'));
      expect(stdout.match(/^unloadable\.ts\(\d+,\d+\): error TS\d+/gm)).toEqual([
        'unloadable.ts(1,10): error TS1484',
        'unloadable.ts(2,13): error TS1294',
      ]);
      const pages = (file: string): string => readFileSync(join(folder, 'test/pages', file), 'utf8');
      const shop = createServer(({ url = '/' }, response) => {
        const isKnown = url === '/' || url.startsWith('/product/');
        response.writeHead(isKnown ? 200 : 404, { 'content-type': 'text/html' });
        response.end(isKnown ? pages(url === '/' ? 'list.html' : 'product.html') : '');
      });
      await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = shop.address() as AddressInfo;
        const url = `http://127.0.0.1:${port}/`;
        const flags = ['--crawler', 'teapots', ...AT_FULL_SPEED];
        const tried = await done(['npx', 'trawl', 'try', `${url}product/1`, ...flags, '--json'], { cwd: folder });
        expect(JSON.parse(tried).result.items).toEqual([
          { name: 'Blue teapot', price: 1299.5, url: `${url}product/1` },
        ]);
        await done(['npx', 'trawl', 'crawl', url, '-o', 'items.jsonl', ...flags], { cwd: folder });
        const items = readFileSync(join(folder, 'items.jsonl'), 'utf8');
        expect(items).toContain(`${url}product/1`);
        expect(items).toContain(`${url}product/2`);
      } finally {
        shop.closeAllConnections();
        shop.close();
      }
      const again = await run(['npx', 'trawl', 'init', 'teapots'], { cwd });
      expect([again.code, again.stderr]).toEqual([
        2,
        'trawl: the folder teapots exists and is not empty: choose another name, or move it away\n',
      ]);
    },
    INSTALLS_MS,
  );

  test('says what to install when started with an older Node.js', async () => {
    const bin = join(cwd, 'node_modules/trawl/bin/trawl.cjs');
    const script = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' }); require('${bin}')`;
    const { code, stderr } = await run([process.execPath, '-e', script], { cwd });
    expect([code, stderr]).toEqual([
      1,
      `trawl: expected Node.js 24 or newer, found 20.20.2 (${process.execPath}): install a newer one from https://nodejs.org/\n`,
    ]);
  });
});

test('the package is compiled by the Node.js that started the build script, whichever is first in PATH', async () => {
  const cwd = await folderFor('compiled');
  const other = join(cwd, 'node');
  await writeFile(other, '#!/bin/sh\necho "an older Node.js" >&2\nexit 1\n', { mode: 0o755 });
  await done([process.execPath, 'scripts/build-package.ts', join(cwd, 'dist')], { cwd: CHECKOUT, path: [cwd] });
  expect(readdirSync(join(cwd, 'dist/services/api/dashboard/dist'))).toContain('index.html');
});

test('trawl init in a checkout compiles with the Node.js that it was started with, whichever is first in PATH', async () => {
  const cwd = await folderFor('init');
  const log = join(cwd, 'started.log');
  // npm is a script for the first Node.js in PATH; all else must not start that one.
  const other = `#!/bin/sh\necho "$*" >> '${log}'\nexec '${process.execPath}' "$@"\n`;
  await writeFile(join(cwd, 'node'), other, { mode: 0o755 });
  const init = [process.execPath, join(CHECKOUT, 'services/cli/trawl.ts'), 'init', 'teapots'];
  await done(init, { cwd, path: [cwd] });
  expect(readdirSync(join(cwd, 'teapots'))).toContainEqual(expect.stringMatching(/^trawl-.*\.tgz$/));
  const started = readFileSync(log, 'utf8').trimEnd().split('\n');
  expect(started).toEqual([expect.stringMatching(/npm\S* pack /)]);
});

test('after npm install -g, trawl crawls in any folder, even a CommonJS one', async () => {
  const cwd = await folderFor('global');
  const prefix = join(cwd, 'prefix');
  await done(['npm', 'install', '--global', '--prefix', prefix, tarball], { cwd });
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ type: 'commonjs' }));
  const path = [join(prefix, 'bin')];
  expect(await crawlIn(cwd, ['trawl'], { path })).toBe('trawl records RUN');
  expect(await crawlIn(cwd, ['prefix/bin/trawl'], { crawler: 'named' })).toBe('prefix/bin/trawl records RUN');
});

// biome-ignore format: a table
test.each<[string, string, readonly string[], Readonly<Record<string, string>>]>([
  ['pnpm', 'pnpm@10',          ['pnpm', 'add'], {}],
  ['Yarn', '@yarnpkg/cli-dist', ['yarn', 'add'], { YARN_NODE_LINKER: 'node-modules' }],
])('installed by %s, trawl crawls and makes a folder that can be installed and tested with it', async (name, tool, add, linker) => {
  const cwd = await folderFor(name.toLowerCase());
  const tools = await folderFor('tools');
  await done(['npm', 'install', tool], { cwd: tools });
  const registry = (await done(['npm', 'config', 'get', 'registry'], { cwd })).trim();
  const env = { ...linker, YARN_NPM_REGISTRY_SERVER: registry, YARN_GLOBAL_FOLDER: join(tools, 'cache') };
  const path = [join(tools, 'node_modules/.bin')];
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ name: 'mine', type: 'module' }));
  await writeFile(join(cwd, 'yarn.lock'), '');
  await done([...add, `trawl@file:${tarball}`], { cwd, env, path });
  expect(await crawlIn(cwd, ['npx', 'trawl'], { env, path })).toBe('npx trawl records RUN');
  await done(['npx', 'trawl', 'init', 'teapots'], { cwd, env, path });
  const folder = join(cwd, 'teapots');
  await writeFile(join(folder, 'yarn.lock'), '');
  const [command = ''] = add;
  await done([command, 'install'], { cwd: folder, env: { ...env, YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' }, path });
  expect(await done([command, 'test'], { cwd: folder, env, path })).toContain('2 passed');
});

test('under the Plug-and-Play linker of Yarn, trawl crawls, and trawl init says to set another nodeLinker', async () => {
  const cwd = await folderFor('pnp');
  const tools = await folderFor('yarn');
  await done(['npm', 'install', '@yarnpkg/cli-dist'], { cwd: tools });
  const registry = (await done(['npm', 'config', 'get', 'registry'], { cwd })).trim();
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ name: 'mine', type: 'module' }));
  await writeFile(join(cwd, 'yarn.lock'), '');
  const env = { YARN_NPM_REGISTRY_SERVER: registry, YARN_GLOBAL_FOLDER: join(tools, 'cache'), YARN_NODE_LINKER: 'pnp' };
  const path = [join(tools, 'node_modules/.bin')];
  await done(['yarn', 'add', `trawl@file:${tarball}`], { cwd, env, path });
  expect(await crawlIn(cwd, ['yarn', 'trawl'], { env, path })).toBe('yarn trawl records RUN');
  const { code, stderr } = await run(['yarn', 'trawl', 'init', 'teapots'], { cwd, env, path });
  expect([code, stderr]).toEqual([1, expect.stringContaining('set nodeLinker: node-modules in .yarnrc.yml')]);
});

test('after npm link, trawl crawls by its name, and by npx in a folder that links to it', async () => {
  const cwd = await folderFor('link');
  const prefix = join(cwd, 'prefix');
  const env = { npm_config_prefix: prefix };
  await done(['npm', 'link'], { cwd: CHECKOUT, env });
  const path = [join(prefix, 'bin')];
  expect(await crawlIn(cwd, ['trawl'], { path })).toBe('trawl records RUN');
  await done(['npm', 'link', 'trawl'], { cwd, env });
  expect(await crawlIn(cwd, ['npx', 'trawl'], { crawler: 'named' })).toBe('npx trawl records RUN');
});

test('the npm script of a checkout crawls with a crawler outside the checkout', async () => {
  const folder = await folderFor('checkout');
  const trawl = ['npm', 'run', '-s', 'trawl', '--'];
  const options = ['--crawler', join(folder, 'shop.ts'), '--run', 'r', '--output-dir', folder, ...AT_FULL_SPEED];
  const said = await done([...trawl, 'crawl', site.url('/'), ...options], { cwd: CHECKOUT });
  expect(said).toContain('(read them with: npm run -s trawl -- records r');
  const records = await done([...trawl, 'records', 'r', '--output-dir', folder], { cwd: CHECKOUT });
  expect(JSON.parse(records.split('\n')[0] ?? '').data).toEqual({ name: expect.any(String), price: 3 });
});
