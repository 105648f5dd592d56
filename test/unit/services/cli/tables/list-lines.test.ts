import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readList } from '../../../../../services/cli/tables/list-lines.ts';
import { malformedMarkOf } from '../../../../../shared/task/url/fingerprint.ts';

function fileOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'trawl-list-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'list.csv');
  writeFileSync(path, text);
  return path;
}

test('a table to join is read by its column of URLs, as a crawl reads it', async () => {
  const lines = await Array.fromAsync(readList(fileOf('url,price\nhttp://a.test/1,3\nhttp://a.test/2,4\n')));
  expect(lines.map(({ given }) => given)).toEqual(['http://a.test/1', 'http://a.test/2']);
});

// biome-ignore format: a table
test.each<[string, string, object | undefined]>([
  ['cells are named by their headers',   'id,url,"the ""owner"""\n7,http://a.test/,"Ann, \nBob" ', { id: '7', 'the "owner"': 'Ann, \nBob' }],
  ['missing cells',             'url;a;b\nhttp://a.test/;1',                   { a: '1' }],
  ['columns without a header',           'url,,a,\nhttp://a.test/,1,2,3',               { a: '2' }],
  ['duplicate headers',       'a\turl\ta\turl\n1\thttp://a.test/\t2\t3',   { a: '1' }],
  ['a header named __proto__',         'url,__proto__\nhttp://a.test/,1',             JSON.parse('{ "__proto__": "1" }')],
  ['a broken quote',                     'url,a,b\nhttp://a.test/,"1"x,2',              { a: '1', b: '2' }],
  ['no other column',                    'url\nhttp://a.test/',                         undefined],
  ['no table',                           'http://a.test/',                              undefined],
])('the other columns of a table are read with %s', async (_, text, others) => {
  const [line] = await Array.fromAsync(readList(fileOf(text)));
  expect(line?.url).toMatchObject({ canonical: 'http://a.test/' });
  expect(JSON.stringify(line?.others)).toBe(JSON.stringify(others));
});

test('only the first 200 columns of a table are read', async () => {
  const header = Array.from({ length: 3_000 }, (_, n) => `c${n}`);
  const [line] = await Array.fromAsync(readList(fileOf(`url,${header}\nhttp://a.test/,${header}\n`)));
  expect(Object.keys(line?.others ?? {})).toEqual(header.slice(0, 199));
});

test('a table without a URL column is refused', async () => {
  const path = fileOf('name,price\nfish,3\ncarp,4\n');
  await expect(Array.fromAsync(readList(path))).rejects.toThrow(/looks like a table.*--join/);
});

test('a line with a tab is malformed, as it is for a crawl', async () => {
  const [, line] = await Array.fromAsync(readList(fileOf('http://a.test/1\nhttp://a.test/2\ttitle\n')));
  expect(line).toEqual({ given: 'http://a.test/2\ttitle', url: { mark: malformedMarkOf('http://a.test/2\ttitle') } });
});
