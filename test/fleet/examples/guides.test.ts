import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type Guide, readGuide } from '../../support/docs/guide.ts';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openPractice } from '../../support/practice/open.ts';
import { allProducts } from '../../support/practice/shop.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { readCsv } from '../../support/python-csv.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PRODUCTS = allProducts();
const REVIEWS = PRODUCTS.flatMap(({ reviews }) => reviews);
/** A guide runs a dozen processes in sequence; on a busy machine each takes seconds. */
const TIMEOUT_MS = 240_000;
const GUIDES = ['docs/crawlers.md', 'docs/from-scrapy.md', 'docs/from-crawlee.md'];

/** Follows a guide in an empty folder, with the practice site in place of the guide's site. */
async function follow(path: string): Promise<Workplace> {
  const [site, workplace] = [await openPractice(), await openWorkplace()];
  const { files, commands } = readGuide(path);
  const here = (text: string): string => text.replaceAll('https://shop.example', site.origin);
  for (const [name, code] of files) await writeFile(join(workplace.folder, name), here(code));
  for (const line of commands) {
    const [words = ''] = here(line).split(/\s+#/);
    const [trawl, ...args] = words.replaceAll("'", '').split(' ');
    expect(trawl).toBe('trawl');
    const isCrawl = args[0] === 'crawl';
    const { code, stderr } = await workplace.run([...args, ...(isCrawl ? AT_FULL_SPEED : [])]);
    expect([line, code, stderr]).toEqual([line, 0, expect.not.stringContaining('trawl:')]);
  }
  return workplace;
}

async function tableIn({ folder }: Workplace, file: string): Promise<readonly (readonly string[])[]> {
  return readCsv(await readFile(join(folder, file), 'utf8'));
}

test('docs/crawlers.md: the commands and crawlers of the guide do what it says', { timeout: TIMEOUT_MS }, async () => {
  const workplace = await follow('docs/crawlers.md');
  const [head, ...products] = await tableIn(workplace, 'products.csv');
  expect([head?.slice(6, 9), products.length]).toEqual([['sku', 'name', 'price'], PRODUCTS.length]);
  const [columns, ...reviews] = await tableIn(workplace, 'reviews.csv');
  expect([columns, reviews.length]).toEqual([['sku', 'stars'], REVIEWS.length]);
  const best = JSON.parse(await readFile(join(workplace.folder, 'best.json'), 'utf8'));
  expect(best.length).toBe(REVIEWS.filter(({ stars }) => stars >= 4).length);
  expect((await tableIn(workplace, 'named.csv'))[0]).toEqual(['name', 'Price', 'url']);
  expect((await tableIn(workplace, 'lists.csv')).length).toBe(5);
  const files = await tableIn(workplace, 'files.csv');
  expect([files[0]?.slice(0, 2), files.length]).toEqual([['url', 'path'], 1 + PRODUCTS.length]);
  const sale = (await tableIn(workplace, 'sale.csv')).slice(1).map(([number]) => Number(number));
  expect(sale.toSorted((a, b) => a - b)).toEqual(
    PRODUCTS.map((_, at) => at + 1).filter((n) => n > 10 && n !== 13 && n !== 17),
  );
  expect((await tableIn(workplace, 'all.csv')).length).toBe(11);
  expect(await tableIn(workplace, 'one.csv')).toEqual([['name'], ['Product 3']]);
  const pages = (await readFile(join(workplace.folder, 'pages.jsonl'), 'utf8')).trimEnd().split('\n');
  expect(pages.filter((page) => typeof JSON.parse(page).content !== 'string')).toEqual([]);
  expect(pages.length).toBeGreaterThan(PRODUCTS.length);
});

test('docs/crawlers.md: the first crawler of the guide makes a table of 40 products', {
  timeout: TIMEOUT_MS,
}, async () => {
  const [site, workplace] = [await openPractice(), await openWorkplace()];
  const [[name, code] = ['', '']] = readGuide('docs/crawlers.md').files;
  await writeFile(join(workplace.folder, name), code);
  const flags = ['--crawler', `./${name}`, '-o', 'products.csv', ...AT_FULL_SPEED];
  expect((await workplace.run(['crawl', site.url('/all/'), ...flags])).code).toBe(0);
  const [head, ...rows] = await tableIn(workplace, 'products.csv');
  expect([head, rows.toSorted()]).toEqual([
    ['name', 'price'],
    PRODUCTS.map((product) => [product.name, String(product.price)]).toSorted(),
  ]);
});

test('docs/from-scrapy.md: the crawler finds products and reviews', { timeout: TIMEOUT_MS }, async () => {
  const workplace = await follow('docs/from-scrapy.md');
  expect((await tableIn(workplace, 'products.csv')).length).toBe(1 + PRODUCTS.length);
  expect((await tableIn(workplace, 'reviews.csv')).length).toBe(1 + REVIEWS.length);
});

test('docs/from-crawlee.md: the crawler finds the products', { timeout: TIMEOUT_MS }, async () => {
  const workplace = await follow('docs/from-crawlee.md');
  const [head, ...rows] = await tableIn(workplace, 'products.csv');
  expect([head, rows.length]).toEqual([['name', 'sku', 'url'], PRODUCTS.length]);
});

test('the code blocks of the guides have no type errors', { timeout: TIMEOUT_MS }, async () => {
  const { folder } = await openWorkplace();
  const guides = GUIDES.map((path): [string, Guide] => [path.replaceAll(/\W/g, '-'), readGuide(path)]);
  for (const [name, { files }] of guides) {
    expect(files.size, name).toBeGreaterThan(0);
    await mkdir(join(folder, name));
    for (const [file, code] of files) await writeFile(join(folder, name, file), code);
  }
  const compilerOptions = { types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] };
  const config = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['**/*.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const said = await promisify(execFile)(tsc, ['-p', folder]).catch(({ stdout }: { stdout: string }) => ({ stdout }));
  expect(said.stdout).toBe('');
});
