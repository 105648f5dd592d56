import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TestSite } from '../../support/site.ts';
import { openWorkplace, type Workplace } from '../../support/trawl.ts';

const README = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
const PRODUCTS = 4;

/** The code blocks of a section, by their language. */
function blocks(section: string): [language: string, code: string][] {
  const [, text = ''] = new RegExp(`^## ${section}$(.*?)^## `, 'ms').exec(README) ?? [];
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => [language, code]);
}

async function startSite(): Promise<TestSite> {
  const site = new TestSite({ pages: 2 });
  await site.start();
  onTestFinished(() => site.stop());
  return site;
}

/** A site without a sitemap, whose products are on two pages of a list. */
async function startShop(): Promise<TestSite> {
  const site = await startSite();
  site.robots = '';
  site.on('/sitemap.xml', (_, response) => void response.writeHead(404).end());
  const links = Array.from({ length: PRODUCTS }, (_, n) => `<a href="/product/${n}">a product</a>`);
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

/** The words of a command, as a checkout takes them, for a site instead of the example. */
function wordsOf(line: string, { origin }: TestSite): string[] {
  const [command = ''] = line.split(/\s+#/);
  expect(command).toMatch(/^npm run -s trawl -- /);
  return command.replace('https://www.example.com', origin).split(' ').slice(5);
}

async function lines(workplace: Workplace, file: string): Promise<string[]> {
  return (await readFile(join(workplace.folder, file), 'utf8')).trim().split(/\r?\n/);
}

test('the commands and the crawler of "One process" do what is said of them', { timeout: 120_000 }, async () => {
  const [site, shop] = [await startSite(), await startShop()];
  const workplace = await openWorkplace({ PRIVATE_HOSTS: '127.0.0.0/8' });
  await writeFile(join(workplace.folder, 'urls.txt'), `${shop.url('/product/1')}\n${shop.url('/nowhere')}\n`);
  const found = blocks('One process');
  const [crawler = ''] = found.flatMap(([language, code]) => (language === 'ts' ? [code] : []));
  await writeFile(join(workplace.folder, 'shop.ts'), crawler);
  const commands = found.flatMap(([language, code]) => (language === 'sh' ? code.trim().split('\n') : []));
  expect(commands.length).toBeGreaterThanOrEqual(6);
  const said: string[] = [];
  for (const command of commands) {
    const words = wordsOf(command, command.includes('--follow') ? shop : site);
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
  expect(products.slice(1).sort()).toEqual(
    Array.from({ length: PRODUCTS }, (_, n) => `Fish ${n},${n}.50,${shop.url(`/product/${n}`)}`),
  );
});

test('the fleet is started by files that are there', () => {
  for (const [language, code] of blocks('The fleet')) {
    expect(language).toBe('sh');
    for (const [file] of code.matchAll(/services\/\S+\.ts/g))
      expect(existsSync(join(import.meta.dirname, '../../..', file))).toBe(true);
  }
});

test('the package is installed from the file that npm pack makes', () => {
  const { name, version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  expect(README).toContain(`npm pack && npm install -g ./${name}-${version}.tgz\n`);
});
