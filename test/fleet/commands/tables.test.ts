import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PageRecord } from '../../../shared/ports/record.ts';
import { doneRecord, failedRecord } from '../../support/builders.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { readCsv } from '../../support/python-csv.ts';

const PRODUCTS = Array.from({ length: 40 }, (_, n) => ({
  name: n === 7 ? '=1+1, "ü"; 🚀\nsecond line' : `Product ${n}`,
  ...(n === 9 ? {} : { offers: [{ price: n + 0.5 }] }),
}));

/** Two pages of products, an empty one, a failed and a skipped page. */
const RECORDS: readonly PageRecord[] = [
  doneRecord('http://a.test/1', {
    data: { shop: 'Bonn', links: ['http://a.test/2'], products: PRODUCTS.slice(0, 20) },
  }),
  doneRecord('http://a.test/2', { data: { shop: 'Köln', links: [], products: PRODUCTS.slice(20) } }),
  doneRecord('http://a.test/3', { data: { shop: 'Ulm', links: [], products: [] } }),
  failedRecord('http://a.test/4', { status: 404, error: 'HTTP 404' }),
  failedRecord('http://a.test/5', { outcome: 'skipped', reason: 'robots' }),
];

async function openShop(): Promise<Workplace & { read(name: string): Promise<string> }> {
  const workplace = await openWorkplace();
  const write = async (run: string, records: readonly PageRecord[]): Promise<void> => {
    await mkdir(join(workplace.folder, 'output', run), { recursive: true });
    const lines = records.map((record) => `${JSON.stringify({ ...record, run })}\n`).join('');
    await writeFile(join(workplace.folder, 'output', run, 'w-1.jsonl'), lines);
  };
  await write('zz-older', [doneRecord('http://old.test/', { fetchedAt: '2026-11-20T12:00:00.000Z' })]);
  await write('r', RECORDS);
  return Object.assign(workplace, { read: (name: string) => readFile(join(workplace.folder, name), 'utf8') });
}

describe('trawl records', () => {
  test('without a run id reads the latest run and names it', async () => {
    const shop = await openShop();
    const { code, stdout, stderr } = await shop.run(['records', '--fields', 'url', '--all']);
    const urls = RECORDS.map(({ url }) => ({ url }));
    expect([
      code,
      stderr,
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ]).toEqual([0, 'Run r, the latest\n', urls]);
    const none = await (await openWorkplace()).run(['records']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no records in ./output')]);
  });

  test('--each writes 40 products as 40 rows of CSV that another CSV reader parses correctly', async () => {
    const shop = await openShop();
    const flags = ['--each', 'products', '--fields', 'name,Price=offers[0].price,shop,url', '--bom'];
    const { code, stderr } = await shop.run(['records', 'r', ...flags, '-o', 'items.csv']);
    expect([code, stderr]).toEqual([0, '40 rows written to items.csv\n']);
    const text = await shop.read('items.csv');
    expect(text.startsWith('\ufeffname,Price,shop,url\r\n')).toBe(true);
    const rows = PRODUCTS.map(({ name, offers }, n) => {
      return [name, String(offers?.[0]?.price ?? ''), n < 20 ? 'Bonn' : 'Köln', `http://a.test/${n < 20 ? 1 : 2}`];
    });
    expect(readCsv(text)).toEqual([['name', 'Price', 'shop', 'url'], ...rows]);
    const dear = await shop.run(['records', 'r', ...flags.slice(0, 4), '--where', 'shop=Bonn', '--where', 'offers!=']);
    expect(dear.stdout.trim().split('\n').length).toBe(19);
  });

  test('--limit and --offset select rows, and say how many there are if none is left', async () => {
    const shop = await openShop();
    const names = async (...flags: string[]) => {
      const { stdout, stderr } = await shop.run(['records', 'r', '--each', 'products', '--fields', 'name', ...flags]);
      return [stdout.split('\n').map((line) => line && JSON.parse(line).name), stderr];
    };
    expect(await names('--offset', '19', '--limit', '2')).toEqual([['Product 19', 'Product 20', ''], '']);
    expect(await names('--offset', '40')).toEqual([[''], 'trawl: there are only 40 rows (--offset)\n']);
    const { stderr } = await shop.run(['records', 'r', '--limit', '2', '-o', 'two.csv']);
    expect([stderr, readCsv(await shop.read('two.csv')).length]).toEqual(['2 records written to two.csv\n', 3]);
    for (const [flag, value, least] of [
      ['--limit', '0', 1],
      ['--offset', '-1', 0],
      ['--limit', 'ten', 1],
    ] as const) {
      const { code, stderr: refused } = await shop.run(['records', 'r', `${flag}=${value}`]);
      expect([code, refused]).toEqual([
        2,
        `trawl: expected ${flag} to be a whole number, from ${least}, got "${value}"\n`,
      ]);
    }
  });

  test('CSV has all columns of the data, JSON is one list, and a file name extension sets the format', async () => {
    const shop = await openShop();
    const { stdout } = await shop.run(['records', 'r', '--format', 'csv']);
    expect(readCsv(stdout)[0]?.slice(4, 9)).toEqual(['status', 'title', 'shop', 'products', 'contentType']);
    for (const [file, lines] of Object.entries({ 'a.json': 5, 'a.jsonl': 3, 'a.csv': 4 })) {
      await shop.run(['records', 'r', '--fields', 'url', '-o', file]);
      expect([file, (await shop.read(file)).trim().split('\n').length]).toEqual([file, lines]);
    }
    expect(JSON.parse(await shop.read('a.json')).length).toBe(3);
    const empty = await shop.run(['records', 'r', '--where', 'shop=Rom', '--format', 'json']);
    expect(JSON.parse(empty.stdout)).toEqual([]);
  });

  test('--failed and --skipped write tables of failures and of skipped URLs', async () => {
    const shop = await openShop();
    const outcomesOf = async (flag: string) => {
      const { stdout } = await shop.run(['records', 'r', flag, '--format', 'csv']);
      return readCsv(stdout);
    };
    const [header = [], ...failed] = await outcomesOf('--failed');
    expect([header.includes('error'), header.includes('attempt'), failed.length]).toEqual([true, true, 1]);
    expect(failed[0]?.[header.indexOf('error')]).toBe('HTTP 404');
    expect([(await outcomesOf('--skipped')).length, (await outcomesOf('--all')).length]).toEqual([2, 6]);
  });

  test('--join writes a row for each line of a list, in the order of the list', async () => {
    const shop = await openShop();
    const list = [
      'http://a.test/4',
      '',
      '# no',
      'http://a.test/%31',
      'nonsense',
      'http://u:secret@b.test/',
      'http://a.test/4',
    ];
    await writeFile(join(shop.folder, 'list.txt'), list.join('\n'));
    const columns = ['--fields', 'given,outcome,reason,shop', '--format', 'csv'];
    const { code, stdout } = await shop.run(['records', 'r', '--join', 'list.txt', ...columns]);
    expect([code, ...readCsv(stdout)]).toEqual([
      0,
      ['given', 'outcome', 'reason', 'shop'],
      ['http://a.test/4', 'failed', 'http_4xx', ''],
      ['http://a.test/%31', 'done', '', 'Bonn'],
      ['nonsense', 'failed', 'malformed', ''],
      ['http://b.test/', 'unknown', 'no_record', ''],
      ['http://a.test/4', 'failed', 'http_4xx', ''],
    ]);
    const all = await shop.run(['records', 'r', '--join', '-'], list.join('\n'));
    expect(JSON.parse(all.stdout.split('\n')[1] ?? '')).toMatchObject({ given: 'http://a.test/%31', title: 'A page' });
  });

  test('--join keeps the columns of a spreadsheet and adds the outcomes of its URLs', async () => {
    const shop = await openShop();
    const rows = ['id,Page URL,owner', '1,http://a.test/1,"Ann, Bob"', '2,http://a.test/none,', '3,http://a.test/4'];
    const join = ['records', 'r', '--join', '-'];
    const { stdout } = await shop.run([...join, '--format', 'csv'], rows.join('\r\n'));
    const [columns = [], ...table] = readCsv(stdout);
    expect(columns.slice(0, 6)).toEqual(['given', 'list.id', 'list.owner', 'url', 'finalUrl', 'outcome']);
    expect(table.map((row) => [...row.slice(0, 4), row[5]])).toEqual([
      ['http://a.test/1', '1', 'Ann, Bob', 'http://a.test/1', 'done'],
      ['http://a.test/none', '2', '', '', 'unknown'],
      ['http://a.test/4', '3', '', 'http://a.test/4', 'failed'],
    ]);
    const some = ['--fields', 'owner=list.owner,@list.id,outcome', '--where', 'list.owner!='];
    const found = await shop.run([...join, ...some], rows.join('\n'));
    expect(JSON.parse(found.stdout)).toEqual({ owner: 'Ann, Bob', '@list.id': '1', outcome: 'done' });
    const misspelt = await shop.run([...join, '--fields', 'list.ownr'], rows.join('\n'));
    expect(misspelt.stderr).toBe(
      'trawl: no record has a field list.ownr (--fields)\nThe data has: shop, products\nThe list has: list.id, list.owner\n',
    );
  });

  test('--join compares URLs by the URL_KEY setting', async () => {
    const shop = await openShop();
    const found = async (env: Readonly<Record<string, string>>) => {
      const args = ['records', 'r', '--join', '-', '--fields', 'outcome'];
      return JSON.parse((await shop.start(args, 'http://www.a.test/1', { env }).ended).stdout).outcome;
    };
    expect([await found({}), await found({ URL_KEY: 'no-www' })]).toEqual(['unknown', 'done']);
  });

  test('--join handles a list larger than memory and leaves no temporary file', async () => {
    const shop = await openShop();
    const urls = Array.from(
      { length: 300_000 },
      (_, n) => `http://a.test/${n}?of=a-list-that-is-longer-than-a-short-one`,
    );
    await writeFile(join(shop.folder, 'list.txt'), [...urls, 'http://a.test/1'].join('\n'));
    await mkdir(join(shop.folder, 'tmp'));
    const args = ['records', 'r', '--join', 'list.txt', '--fields', 'given,outcome', '-o', 'rows.jsonl'];
    const env = { NODE_OPTIONS: '--max-old-space-size=64', TMPDIR: join(shop.folder, 'tmp') };
    const { code, stderr } = await shop.start(args, undefined, { env }).ended;
    expect([code, stderr]).toEqual([0, '300 001 rows written to rows.jsonl\n']);
    const rows = (await shop.read('rows.jsonl')).trim().split('\n');
    const left = (await readdir(join(shop.folder, 'tmp'))).filter((name) => name !== 'node-compile-cache');
    expect([rows[0], rows.at(-1), left]).toEqual([
      JSON.stringify({ given: urls[0], outcome: 'unknown' }),
      JSON.stringify({ given: 'http://a.test/1', outcome: 'done' }),
      [],
    ]);
  });

  test('--join works with an unreadable database of crawls, and warns', async () => {
    const shop = await openShop();
    await writeFile(join(shop.folder, 'output', 'trawl.sqlite'), 'no database'.repeat(100));
    const args = ['records', 'r', '--join', '-', '--fields', 'outcome'];
    const { code, stdout, stderr } = await shop.run(args, 'http://a.test/1');
    expect([code, stdout]).toEqual([0, '{"outcome":"done"}\n']);
    expect(stderr).toMatch(
      /^trawl: \S+trawl\.sqlite is damaged: .* Joining the list by the URL_KEY of the settings\n$/,
    );
  });

  test('--join names a temporary folder that it cannot write to', async () => {
    const shop = await openShop();
    const { ended } = shop.start(['records', 'r', '--join', '-'], 'http://a.test/1', {
      env: { TMPDIR: '/dev/null/tmp' },
    });
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^trawl: \/dev\/null\/tmp can't be written: .* \(TMPDIR\)\n$/),
    ]);
  });

  test('a field that no record has is reported, with exit code 0', async () => {
    const shop = await openShop();
    const { code, stderr } = await shop.run(['records', 'r', '--fields', 'url,prise', '--where', 'shap=']);
    expect([code, stderr.split('\n')]).toEqual([
      0,
      [
        'trawl: no record has a field prise (--fields)',
        'trawl: no record has a field shap (--where)',
        'The data has: shop, products',
        '',
      ],
    ]);
  });

  // biome-ignore format: a table
  test.each([
    [['--failed', '--all'],            2, 'expected one of --failed, --skipped and --all, got --failed and --all'],
    [['--bom'],                        2, '--bom is for CSV, and the format is jsonl: --format csv'],
    [['--where', 'status'],            2, 'expected --where to be a condition like status=404,410'],
    [['--fields', 'a,b=a,b'],          2, 'got "b" twice'],
    [['--each', '[0]'],                2, 'expected --each to be a path like'],
    [['-o', 'items.xls'],              2, 'expected -o to end in .jsonl, .json or .csv, got "items.xls"'],
    [['--join', 'missing.txt'],        1, "missing.txt can't be read: ENOENT"],
  ])('%j exits with %i and says "%s"', async (flags, code, said) => {
    const ended = await (await openShop()).run(['records', 'r', ...flags]);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([code, '', expect.stringContaining(said)]);
  });
});

describe('an output file of records', () => {
  test('replaces an older one at once, keeps its permissions and its link, and leaves no other file', async () => {
    const shop = await openShop();
    await writeFile(join(shop.folder, 'real.csv'), 'older');
    await chmod(join(shop.folder, 'real.csv'), 0o662);
    await symlink('real.csv', join(shop.folder, 'items.csv'));
    const before = await stat(join(shop.folder, 'real.csv'));
    expect((await shop.run(['records', 'r', '-o', 'items.csv'])).code).toBe(0);
    const after = await stat(join(shop.folder, 'real.csv'));
    expect([after.mode, after.ino === before.ino]).toEqual([before.mode, false]);
    expect((await readdir(shop.folder)).toSorted()).toEqual(['items.csv', 'output', 'real.csv']);
    // Fails from the first record on: the older file stays.
    const full = await shop.start(['records', 'r', '-o', 'items.csv'], undefined, { under: ['prlimit', '--fsize=100'] })
      .ended;
    expect([full.code, (await stat(join(shop.folder, 'real.csv'))).ino]).toEqual([1, after.ino]);
    expect((await readdir(shop.folder)).length).toBe(3);
  });

  test('removes the old temporary files of killed processes for the same file, and no others', async () => {
    const shop = await openShop();
    const old = ['.items.csv.7.tmp', '.items.csv.tmp', '.items.csv.x.tmp', '.other.csv.7.tmp'];
    const twoHoursAgo = new Date(Date.now() - 7_200_000);
    for (const name of [...old, '.items.csv.8.tmp']) await writeFile(join(shop.folder, name), 'url');
    for (const name of old) await utimes(join(shop.folder, name), twoHoursAgo, twoHoursAgo);
    expect((await shop.run(['records', 'r', '-o', 'items.csv'])).code).toBe(0);
    const left = ['.items.csv.8.tmp', ...old.slice(1), 'items.csv', 'output'];
    expect((await readdir(shop.folder)).toSorted()).toEqual(left.toSorted());
  });

  test('is written where a chain of links leads, even if no file exists there yet', async () => {
    const shop = await openShop();
    await mkdir(join(shop.folder, 'disk'));
    await symlink('disk/items.csv', join(shop.folder, 'newest.csv'));
    await symlink('newest.csv', join(shop.folder, 'items.csv'));
    expect((await shop.run(['records', 'r', '-o', 'items.csv'])).code).toBe(0);
    expect(await readdir(join(shop.folder, 'disk'))).toEqual(['items.csv']);
    expect(await shop.read('items.csv')).toBe(await shop.read('disk/items.csv'));
  });
});
