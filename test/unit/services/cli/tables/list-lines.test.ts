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

test('a list to join is read as a crawl reads it: by its column of URLs, if it is a table', async () => {
  const lines = await Array.fromAsync(readList(fileOf('url,price\nhttp://a.test/1,3\nhttp://a.test/2,4\n')));
  expect(lines.map(({ given }) => given)).toEqual(['http://a.test/1', 'http://a.test/2']);
});

test('a table without such a column is refused', async () => {
  const path = fileOf('name,price\nfish,3\ncarp,4\n');
  await expect(Array.fromAsync(readList(path))).rejects.toThrow(/looks like a table.*--join/);
});

test('a line with a tab is malformed, as it is for a crawl', async () => {
  const [, line] = await Array.fromAsync(readList(fileOf('http://a.test/1\nhttp://a.test/2\ttitle\n')));
  expect(line).toEqual({ given: 'http://a.test/2\ttitle', url: { mark: malformedMarkOf('http://a.test/2\ttitle') } });
});
