import { existsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Checkpoints } from '../../../../../shared/stores/sqlite/database/checkpoints.ts';
import { LocalDatabase } from '../../../../../shared/stores/sqlite/database/database.ts';
import { networkFileSystemOf } from '../../../../../shared/stores/sqlite/database/network-file-system.ts';
import { newFolder } from '../../../../support/stores/kept-store.ts';

async function setup() {
  const folder = await newFolder();
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'trawl.sqlite');
  const open = (): LocalDatabase => {
    const database = new LocalDatabase({ path, networkFileSystem: () => 'NFS' });
    onTestFinished(() => database.close());
    return database;
  };
  return { path, open };
}

test('on a network file system, one process at a time has the database, without shared memory; the next gets an error that says what to do', async () => {
  const { path, open } = await setup();
  const one = open();
  await one.call(() => one.run("INSERT INTO attempts (mark, at, note) VALUES ('a', 0, '{}')"));
  expect([existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([true, false]);
  expect(open).toThrow(
    `${path} is on NFS, where one process at a time can have it open, and another one has: wait until that crawl or command has ended`,
  );
  one.close();
  const other = open();
  expect(await other.call(() => other.all('SELECT mark FROM attempts'))).toEqual([{ mark: 'a' }]);
});

test('the log stays short there, although no other thread can open it', async () => {
  const { path, open } = await setup();
  const database = open();
  database.leaveCheckpoints();
  const checkpoints = new Checkpoints(database);
  onTestFinished(() => checkpoints.stop());
  checkpoints.start();
  const note = 'x'.repeat(2 ** 20);
  for (let megabytes = 0; megabytes < 40; megabytes++) {
    await database.call(() => database.run("INSERT INTO attempts (mark, at, note) VALUES ('a', 0, ?)", note));
  }
  expect(statSync(`${path}-wal`).size).toBeLessThan(8 * 2 ** 20);
});

test('in this folder, the database is exclusive only if a network file system holds it', async () => {
  const { path } = await setup();
  expect(networkFileSystemOf('/gone/trawl.sqlite')).toBeUndefined();
  const local = new LocalDatabase({ path });
  onTestFinished(() => local.close());
  expect(local.isExclusive).toBe(networkFileSystemOf(path) !== undefined);
});
