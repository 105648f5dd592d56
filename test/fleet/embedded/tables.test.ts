import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { readCsv } from '../../support/python-csv.ts';
import { TestSite } from '../../support/site.ts';

async function setup() {
  const site = new TestSite({ pages: 200 });
  await site.start();
  onTestFinished(() => site.stop());
  const workplace = await openWorkplace();
  const read = (name: string): Promise<string> => readFile(join(workplace.folder, name), 'utf8');
  const list = [1, 2, 3].map((page) => site.url(`/page/${page}`));
  return { site, workplace, read, list: [...list, site.url('/status/404'), 'nonsense', list[0] ?? ''] };
}

test('crawl -o with --join writes a table with one row per line of the list', async () => {
  const { workplace, read, list } = await setup();
  await writeFile(join(workplace.folder, 'urls.txt'), list.join('\n'));
  const flags = ['-o', 'items.csv', '--join', 'urls.txt', '--fields', 'given,outcome,reason,Name=title'];
  const { code, stdout, stderr } = await workplace.run(['crawl', 'urls.txt', ...flags, '--json', ...AT_FULL_SPEED]);
  expect([code, JSON.parse(stdout).done]).toEqual([0, 3]);
  expect(stderr).toMatch(/^6 rows written to items.csv$/m);
  expect(readCsv(await read('items.csv')).map((row) => row.slice(1))).toEqual([
    ['outcome', 'reason', 'Name'],
    ['done', '', 'Page 1'],
    ['done', '', 'Page 2'],
    ['done', '', 'Page 3'],
    ['failed', 'http_4xx', ''],
    ['failed', 'malformed', ''],
    ['done', '', 'Page 1'],
  ]);
});

test('crawl -o - prints only the table on standard output', async () => {
  const { workplace, list } = await setup();
  const { stdout, stderr } = await workplace.run(['crawl', '-', '-o', '-', ...AT_FULL_SPEED], list.join('\n'));
  const titles = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).title);
  expect([titles.toSorted(), stderr]).toEqual([['Page 1', 'Page 2', 'Page 3'], expect.stringContaining('3 done')]);
});

test('-o /dev/stdout appends to a file that standard output is redirected to', async () => {
  const { workplace, read, list } = await setup();
  const under = ['sh', '-c', 'exec "$@" >> all.jsonl', 'sh'];
  const args = ['crawl', '-', '-o', '/dev/stdout', '--fields', 'title', ...AT_FULL_SPEED];
  await workplace.start(args, list.join('\n'), { under }).ended;
  await workplace.start(['records', '-o', '/dev/stdout', '--fields', 'title'], '', { under }).ended;
  const titles = (await read('all.jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).title);
  expect(titles.toSorted()).toEqual(['Page 1', 'Page 1', 'Page 2', 'Page 2', 'Page 3', 'Page 3']);
});

test('after Ctrl-C the table has the records so far, and the printed command to resume keeps its flags', async () => {
  const { site, workplace, read } = await setup();
  const flags = ['-o', 'items.json', '--fields', 'url'];
  const slow = ['--rate', '1200/min', '--private-hosts', '127.0.0.0/8', '--json', '--run', 'cut'];
  const crawl = workplace.start(['crawl', site.url('/sitemap.xml'), ...flags, ...slow]);
  await site.arrival('/page/5');
  expect(existsSync(join(workplace.folder, 'items.json'))).toBe(false);
  crawl.signal('SIGINT');
  const { code, stdout, stderr } = await crawl.ended;
  expect(stderr).toMatch(/trawl.* crawl --resume cut -o items\.json --fields url\n/);
  const { done } = JSON.parse(stdout);
  expect([code, done > 3, JSON.parse(await read('items.json')).length]).toEqual([130, true, done]);
  expect((await readdir(workplace.folder)).toSorted()).toEqual(['items.json', 'output']);
  await workplace.json(['cancel', 'cut']);
  // The table of an ended run is written, too.
  expect((await workplace.run(['crawl', '--resume', 'cut', '-o', 'again.jsonl'])).code).toBe(0);
  expect((await read('again.jsonl')).trim().split('\n').length).toBe(done);
});

test('Ctrl-C while the table is being written stops that, and prints the command that writes it', async () => {
  const { site, workplace } = await setup();
  await workplace.run(['crawl', site.url('/page/1'), '--run', 'small', ...AT_FULL_SPEED]);
  const [file = ''] = await readdir(join(workplace.folder, 'output', 'small'));
  const record = (await readFile(join(workplace.folder, 'output', 'small', file), 'utf8')).replaceAll('small', 'large');
  // As if another worker had crawled most of it.
  await mkdir(join(workplace.folder, 'output', 'large'));
  await writeFile(join(workplace.folder, 'output', 'large', 'other.jsonl'), record.repeat(100_000));
  const crawl = workplace.start(['crawl', site.url('/page/2'), '-o', 'items.csv', '--run', 'large', ...AT_FULL_SPEED]);
  await crawl.says(/Records: /);
  crawl.signal('SIGINT');
  const { code, stderr } = await crawl.ended;
  expect(stderr).toMatch(/\nThe table was not written\. Write it with: trawl.* records large -o items\.csv\n$/);
  expect(code).toBe(130);
  expect((await readdir(workplace.folder)).toSorted()).toEqual(['output']);
});

test('the table of a resumed crawl has the columns of its crawler without a --crawler flag', async () => {
  const { site, workplace, read } = await setup();
  const shop = `import { defineCrawler, z } from 'trawl';
const record = z.strictObject({ title: z.string(), price: z.number().optional() });
export default defineCrawler({ name: 'shop', steps: { product: { record, run({ page, emit }) { emit({ title: page.title }); } } } });`;
  await writeFile(join(workplace.folder, 'shop.mjs'), shop);
  const crawl = workplace.start([
    'crawl',
    site.url('/sitemap.xml'),
    '--crawler',
    './shop.mjs',
    '--run',
    'cut',
    ...AT_FULL_SPEED,
  ]);
  await site.arrival('/page/3');
  crawl.signal('SIGKILL');
  await crawl.ended;
  // The second time, the run has ended already.
  for (const name of ['items.csv', 'again.csv']) {
    expect((await workplace.run(['crawl', '--resume', 'cut', '-o', name])).code).toBe(0);
    expect((await read(name)).split('\r\n')[0]).toBe('title,price');
  }
});

test('wrong table flags are reported before anything is fetched', async () => {
  const { site, workplace } = await setup();
  // biome-ignore format: a table
  const cases: [string[], number, string][] = [
    [['-o', 'no/such/items.csv'],                   1, "no/such/items.csv can't be written: ENOENT"],
    [['-o', '.'],                                   1, ". can't be written: EISDIR"],
    [['-o', 'items/'],                              2, 'expected -o to name a file, got "items/"'],
    [['-o', ''],                                    2, 'expected -o to name a file, got ""'],
    [['-o', 'items.csv', '--fields', 'a..b'],       2, 'expected --fields to be columns like'],
    [['-o', 'items.csv', '--join', 'missing.txt'],  1, "missing.txt can't be read"],
    [['-o', '-', '--json'],                         2, '--json and -o - both write to standard output'],
    [['--fields', 'title'],                         2, '--fields is for a table: name its file with -o'],
    [['-', '-o', 'items.csv', '--join', '-'],       2, 'standard input is already the list of URLs to crawl'],
  ];
  for (const [flags, code, said] of cases) {
    const ended = await workplace.run(['crawl', site.url('/page/1'), ...flags, ...AT_FULL_SPEED], site.url('/page/2'));
    expect([flags, ended.code, ended.stderr]).toEqual([flags, code, expect.stringContaining(said)]);
  }
  expect([site.requests.length, await readdir(workplace.folder)]).toEqual([0, []]);
});
