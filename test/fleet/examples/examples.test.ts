import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { example, openPractice } from '../../support/practice/open.ts';
import { ARTICLES, PROSE, serveQuotes } from '../../support/practice/others.ts';
import { allProducts } from '../../support/practice/shop.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { readCsv } from '../../support/python-csv.ts';

const FOLDER = join(example('x'), '..');
const MOST_LINES = 60;

/** Crawls a path of the practice site with an example. Returns, among others, a reader of tables of its records. */
async function crawled(name: string, path: string) {
  const [site, workplace] = [await openPractice(), await openWorkplace()];
  const flags = ['--crawler', example(name), '--run', name, '--json', ...AT_FULL_SPEED];
  const { code, stdout, stderr } = await workplace.run(['crawl', site.url(path), ...flags]);
  expect(code, stderr).toBe(0);
  const table = async (...args: string[]): Promise<(readonly string[])[]> => {
    const written = await workplace.run(['records', name, ...args, '-o', 'table.csv']);
    expect(written).toMatchObject({ code: 0, stderr: expect.stringMatching(/^\d+ \S+ written to table.csv\n$/) });
    const [head = [], ...rows] = readCsv(await readFile(join(workplace.folder, 'table.csv'), 'utf8'));
    return [head, ...rows.toSorted((a, b) => String(a).localeCompare(String(b), 'en', { numeric: true }))];
  };
  return { site, workplace, table, summary: JSON.parse(stdout) };
}

describe('the examples', () => {
  test('are one file each, of fewer than 60 lines', () => {
    const files = readdirSync(FOLDER).filter((file) => file.endsWith('.ts'));
    expect(files).toEqual(['json-api.ts', 'login.ts', 'news.ts', 'offers.ts', 'pagination.ts', 'shop.ts']);
    for (const file of files)
      expect(readFileSync(join(FOLDER, file), 'utf8').split('\n').length, file).toBeLessThan(MOST_LINES);
  });

  test('shop writes a table of 40 products and one of their reviews', async () => {
    const { site, table, summary } = await crawled('shop', '/all/');
    const products = allProducts();
    expect(summary).toMatchObject({
      done: 4 + 40 + products.filter(({ reviews }) => reviews.length > 0).length,
      failed: 0,
    });
    expect(await table('--step', 'product')).toEqual([
      ['sku', 'name', 'price', 'url'],
      ...products.map(({ sku, name, price }) => [sku, name, String(price), site.url(`/product/${sku.slice(2)}`)]),
    ]);
    expect(await table('--step', 'reviews')).toEqual([
      ['sku', 'stars', 'text'],
      ...products.flatMap(({ sku, reviews }) => reviews.map(({ stars, text }) => [sku, String(stars), text]).sort()),
    ]);
  });

  test('offers joins all pages of a product into one record, and all offers into a report', async () => {
    const { table, summary } = await crawled('offers', '/all/');
    const products = allProducts();
    expect(summary).toMatchObject({ failed: 0, openGroups: 0, steps: { offer: { done: 40 }, report: { done: 1 } } });
    expect(await table('--step', 'offer')).toEqual([
      ['name', 'price', 'stars', 'missing'],
      ...products.map(({ name, price, reviews }) => {
        return [name, String(price), JSON.stringify(reviews.map(({ stars }) => stars)), '0'];
      }),
    ]);
    const sum = products.reduce((total, { price }) => total + price, 0);
    expect(await table('--step', 'report')).toEqual([
      ['offers', 'sum'],
      ['40', String(sum)],
    ]);
  });

  test('pagination finds all quotes of three pages', async () => {
    const { site, table } = await crawled('pagination', '/quotes/');
    expect(await table()).toEqual([
      ['text', 'author', 'tags'],
      ...serveQuotes(site).map(({ text, author, tags }) => [text, author, JSON.stringify(tags)]),
    ]);
  });

  test('json-api finds 40 products through the pages of a JSON list', async () => {
    const { table } = await crawled('json-api', '/api/products');
    expect(await table()).toEqual([
      ['sku', 'name', 'price', 'inStock'],
      ...allProducts().map(({ sku, name, price, reviews }) => [sku, name, String(price), String(reviews.length > 0)]),
    ]);
  });

  test('news records each article once, though two pages link to it, and without the text around it', async () => {
    const { site, table, summary } = await crawled('news', '/front/');
    expect(summary).toMatchObject({ done: 2 + ARTICLES, failed: 0 });
    expect(await table()).toEqual([
      ['url', 'title', 'byline', 'published', 'markdown'],
      ...Array.from({ length: ARTICLES }, (_, at) => [
        site.url(`/2026/11/article-${at + 1}`),
        `Headline ${at + 1}`,
        `Reporter ${(at + 1) % 2}`,
        `2026-11-0${at + 1}T08:00:00Z`,
        `# Headline ${at + 1}\n\nIt was **said** in town ${at + 1}. ${PROSE}`,
      ]),
    ]);
  });
});
