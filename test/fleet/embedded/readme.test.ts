import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readGuide } from '../../support/docs/guide.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PRODUCTS = 4;

async function startSite(): Promise<TestSite> {
  const site = new TestSite({ pages: 2 });
  await site.start();
  onTestFinished(() => site.stop());
  return site;
}

/** A site without a sitemap, with its products on two list pages. */
async function startShop(): Promise<TestSite> {
  const site = await startSite();
  site.robots = '';
  site.on('/sitemap.xml', (_, response) => void response.writeHead(404).end());
  const links = Array.from({ length: PRODUCTS }, (_, n) => `<a class="product" href="/product/${n}">a product</a>`);
  const lists = { '/': [...links.slice(0, 2), '<a rel="next" href="/list/2">more</a>'], '/list/2': links.slice(2) };
  for (const [path, items] of Object.entries(lists)) {
    const html = `<title>Shop</title>${items.join(' ')}`;
    site.on(path, (_, response) => void response.setHeader('content-type', 'text/html').end(html));
  }
  for (let n = 0; n < PRODUCTS; n++) {
    const html = `<title>A product</title><h1>Fish ${n}</h1><span class="price">${n}.50</span>`;
    site.on(`/product/${n}`, (_, response) => void response.setHeader('content-type', 'text/html').end(html));
  }
  return site;
}

/** The arguments of a README command, with the test site in place of the example. */
function wordsOf(line: string, { origin }: TestSite): string[] {
  const [command = ''] = line.split(/\s+#/);
  expect(command).toMatch(/^npm run -s trawl -- /);
  return command.replace('https://www.example.com', origin).split(' ').slice(5);
}

async function lines(workplace: Workplace, file: string): Promise<string[]> {
  return (await readFile(join(workplace.folder, file), 'utf8')).trim().split(/\r?\n/);
}

test('the README commands and crawler of "One process" do what the README says', { timeout: 120_000 }, async () => {
  const [site, shop] = [await startSite(), await startShop()];
  const workplace = await openWorkplace({ PRIVATE_HOSTS: '127.0.0.0/8' });
  await writeFile(join(workplace.folder, 'urls.txt'), `${shop.url('/product/1')}\n${shop.url('/nowhere')}\n`);
  const { files, commands } = readGuide('README.md', 'One process');
  for (const [name, code] of files) await writeFile(join(workplace.folder, name), code);
  expect(commands.length).toBeGreaterThanOrEqual(6);
  const said: string[] = [];
  for (const command of commands) {
    const words = wordsOf(command, / --(follow|crawler) /.test(command) ? shop : site);
    if (words.includes('--resume')) {
      const cut = workplace.start(['crawl', site.url('/sitemap.xml'), '--run', 'cut']);
      await cut.says(/under way/);
      cut.signal('SIGINT');
      await cut.ended;
    }
    const { code, stdout, stderr } = await workplace.run(words);
    expect([code, command, stderr], command).toEqual([0, command, expect.any(String)]);
    said.push(stdout);
  }
  const all = said.join('\n');
  expect(all.match(/^Run \S+ finished/gm)).toHaveLength(commands.filter((line) => line.includes(' crawl ')).length);
  expect(all).toContain('Run cut finished');
  const [head, first, second, ...rest] = await lines(workplace, 'pages.csv');
  expect(head).toMatch(/^given,url,finalUrl,outcome,reason,/);
  expect([first, second]).toEqual([expect.stringContaining(',done,'), expect.stringContaining(',failed,http_4xx')]);
  expect(rest).toEqual([]);
  const products = await lines(workplace, 'products.csv');
  expect(products.toSorted()).toEqual([
    ...Array.from({ length: PRODUCTS }, (_, n) => `Fish ${n},${n}.5,${shop.url(`/product/${n}`)}`),
    'name,price,url',
  ]);
  expect(await lines(workplace, 'cheap.csv')).toEqual(['name,url', `Fish 2,${shop.url('/product/2')}`]);
});

test('the README commands of "The fleet" name existing files', () => {
  const files = readGuide('README.md', 'The fleet').commands.flatMap((line) => line.match(/services\/\S+\.ts/g) ?? []);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(existsSync(join(ROOT, file))).toBe(true);
});

test('the README installs the package from the file that npm pack makes', async () => {
  const [readme, description] = await Promise.all(
    ['README.md', 'package.json'].map((file) => readFile(join(ROOT, file), 'utf8')),
  );
  const { name, version } = JSON.parse(description ?? '');
  expect(readme).toContain(`npm pack && npm install -g ./${name}-${version}.tgz\n`);
});
