import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { example, openPractice } from '../../support/practice/open.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { readCsv } from '../../support/python-csv.ts';

test('a table of several steps has a row for each item, and a remark on the flags that separate the steps', {
  timeout: 120_000,
}, async () => {
  const [site, workplace] = [await openPractice(), await openWorkplace()];
  const MIXED = 'trawl: the rows are from several steps: ';
  const crawl = ['crawl', site.url('/all/'), '--crawler', example('shop'), '--run', 'r', ...AT_FULL_SPEED];
  const { stderr } = await workplace.run([...crawl, '-o', 'all.csv']);
  expect(stderr.split('\n').slice(-3, -1)).toEqual(['80 rows written to all.csv', expect.stringContaining(MIXED)]);
  await writeFile(join(workplace.folder, 'urls.txt'), `${site.url('/product/1')}\n${site.url('/reviews/1')}\n`);
  // biome-ignore format: a table
  const cases: [string[], number, string[]][] = [
    [['--step', 'product'],                        40, []],
    [['--step', 'reviews'],                        40, []],
    [['--step', 'reviews', '--each', '.'],         40, []],
    [['--step', 'reviews', '--each', '@url'],      27, []],
    [['--fields', 'sku,text,name'],                80, []],
    [['--step', 'reviews', '--join', 'urls.txt'],   2, []],
    [['--step', 'list'],                            0, ['trawl: step list emitted nothing (--empty adds a row for each page)']],
    [['--step', 'product', '--where', 'sku='],      0, ['trawl: no row meets the conditions (--where)']],
    [['--step', 'lists'],                           0, ['trawl: no record is from step lists; the steps are list, product, reviews (--step)']],
  ];
  for (const [flags, rows, said] of cases) {
    const ended = await workplace.run(['records', 'r', ...flags, '-o', 'table.csv']);
    const [first, ...remarks] = ended.stderr.trim().split('\n');
    expect([flags, ended.code, first?.split(' ')[0], remarks]).toEqual([flags, 0, String(rows), said]);
  }
});

test('a table of a run whose pages all failed names the flag that shows them; one of its failures needs no remark', async () => {
  const [site, workplace] = [await openPractice(), await openWorkplace()];
  await workplace.run(['crawl', site.url('/nothing-here'), '--run', 'r', ...AT_FULL_SPEED]);
  const remark = 'trawl: pages that failed have no row (--failed lists them, and why)';
  const said = async (...flags: string[]) => (await workplace.run(['records', 'r', ...flags])).stderr.trim();
  expect(await said()).toBe(remark);
  expect(await said('--format', 'csv')).toBe(remark);
  expect(await said('--all')).toBe('');
  expect(await said('--skipped')).toBe('');
});

test('if its crawler cannot be loaded, a table has the columns that its records have', {
  timeout: 120_000,
}, async () => {
  const [site, workplace] = [await openPractice(), await openWorkplace()];
  const file = join(workplace.folder, 'shop.ts');
  await writeFile(file, await readFile(example('shop'), 'utf8'));
  await workplace.run(['crawl', site.url('/product/2'), '--crawler', './shop.ts', '--run', 'r', ...AT_FULL_SPEED]);
  const head = async (): Promise<readonly string[] | undefined> => {
    const { stdout } = await workplace.run(['records', 'r', '--step', 'product', '--format', 'csv']);
    return readCsv(stdout)[0];
  };
  expect(await head()).toEqual(['sku', 'name', 'price', 'url']);
  await writeFile(file, 'export default 1;');
  expect((await head())?.slice(0, 9)).toEqual([
    ...['url', 'finalUrl', 'outcome', 'reason', 'status', 'title'],
    ...['sku', 'name', 'price'],
  ]);
});
