import { statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { StorageError } from '../../../../../shared/runtime/errors.ts';
import { PageFile, pageFilePath } from '../../../../../shared/stores/journal/page-file.ts';
import type { KnownPage } from '../../../../../shared/task/task/known-page.ts';
import { newFolder } from '../../../../support/journaled-store.ts';

const DAY = 86_400_000;
const NOW = 1_800_000_000_000;
const PAGE: KnownPage = { fetchedAt: NOW, etag: '"1"', contentHash: 'h', bytes: 10, readAs: 'page' };

async function setup() {
  const folder = await newFolder();
  onTestFinished(() => rm(folder, { recursive: true }));
  const problems: string[] = [];
  const open = (now = NOW, syncFirst = async () => {}): PageFile => {
    const file = new PageFile({
      folder,
      syncFirst,
      now: () => now,
      onFailure: (problem) => void problems.push(problem),
    });
    onTestFinished(() => file.close());
    return file;
  };
  return { path: pageFilePath(folder), open, problems };
}

test('pages outlive the process that wrote them, as they were', async () => {
  const { open, path } = await setup();
  const first = open();
  const other: KnownPage = {
    fetchedAt: NOW,
    modified: 'Sat, 21 Nov 2026 09:30:15 GMT',
    contentHash: '',
    bytes: 0,
    readAs: 'mine html',
  };
  first.set('http://a.test/1', PAGE);
  first.set('http://a.test/2', other);
  expect(first.get('http://a.test/1', NOW)).toEqual(PAGE);
  first.close();
  first.close();
  const second = open();
  expect(second.get('http://a.test/1', NOW)).toEqual(PAGE);
  expect(second.get('http://a.test/2', NOW)).toEqual(other);
  expect(second.get('http://a.test/3', NOW)).toBeUndefined();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('two at once write the same file, and the later fetch counts', async () => {
  const { open, problems } = await setup();
  const [one, two] = [open(), open()];
  one.set('http://a.test/1', { ...PAGE, fetchedAt: NOW + 2, etag: '"new"' });
  two.set('http://a.test/1', { ...PAGE, fetchedAt: NOW + 1, etag: '"old"' });
  one.set('http://a.test/2', PAGE);
  two.set('http://a.test/3', PAGE);
  one.close();
  two.close();
  const after = open();
  expect(after.get('http://a.test/1', NOW)?.etag).toBe('"new"');
  expect([2, 3].map((n) => after.get(`http://a.test/${n}`, NOW))).toEqual([PAGE, PAGE]);
  expect(problems).toEqual([]);
});

test('no page is written before the records are on the disk', async () => {
  const { open, path } = await setup();
  const asked = Promise.withResolvers<void>();
  const synced = Promise.withResolvers<void>();
  const file = open(NOW, async () => {
    asked.resolve();
    await synced.promise;
  });
  file.set('http://a.test/1', PAGE);
  await asked.promise;
  const reader = new DatabaseSync(path, { readOnly: true });
  onTestFinished(() => reader.close());
  const written = (): unknown => reader.prepare('SELECT count(*) AS n FROM pages').get()?.n;
  expect(written()).toBe(0);
  synced.resolve();
  await synced.promise;
  await expect.poll(written).toBe(1);
});

test('what was not fetched for 90 days is forgotten', async () => {
  const { open, path } = await setup();
  const first = open();
  first.set('http://a.test/1', PAGE);
  first.close();
  const late = open(NOW + 91 * DAY);
  expect(late.get('http://a.test/1', NOW + 90 * DAY - 1)).toEqual(PAGE);
  expect(late.get('http://a.test/1', NOW + 90 * DAY)).toBeUndefined();
  late.close();
  const reader = new DatabaseSync(path, { readOnly: true });
  expect(reader.prepare('SELECT count(*) AS n FROM pages').get()).toEqual({ n: 0 });
  reader.close();
});

test('a file that is something else, or newer, is refused by name', async () => {
  const other = await setup();
  writeFileSync(
    other.path,
    'not a database, but long enough to be taken for something that someone wants to keep'.repeat(20),
  );
  expect(() => other.open()).toThrow(StorageError);
  expect(() => other.open()).toThrow(/pages\.sqlite can't be used: .*not a database/);
  const newer = await setup();
  newer.open().close();
  const database = new DatabaseSync(newer.path);
  database.exec('PRAGMA user_version = 2');
  database.close();
  expect(() => newer.open()).toThrow(/is of version 2/);
});
