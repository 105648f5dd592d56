import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Checkpoints } from '../../../../../shared/stores/sqlite/database/checkpoints.ts';
import { LocalDatabase } from '../../../../../shared/stores/sqlite/database/database.ts';

const MIB = 2 ** 20;

let folder: string;
let database: LocalDatabase;
let checkpoints: Checkpoints;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trawl-checkpoints-'));
  database = new LocalDatabase({ path: join(folder, 'trawl.sqlite') });
  database.leaveCheckpoints();
  await database.call(() => database.run('CREATE TABLE ballast (bytes BLOB)'));
  checkpoints = new Checkpoints(database);
});

afterEach(async () => {
  await checkpoints.stop();
  database.close();
  await rm(folder, { recursive: true });
});

/** Lets the log grow. */
async function write(bytes: number): Promise<void> {
  await database.call(() => database.run('INSERT INTO ballast VALUES (zeroblob(?))', bytes));
}

/** Changes whenever the log starts again at its beginning: https://www.sqlite.org/fileformat2.html#walformat */
function beginning(): string {
  return readFileSync(`${database.path}-wal`).subarray(16, 24).toString('hex');
}

test.each([
  ['long', 9 * MIB],
  ['too long', 40 * MIB],
])(
  'a log that is %s begins anew without a write of ours, and then no sooner than it is long again',
  async (_, bytes) => {
    await write(bytes);
    const first = beginning();
    checkpoints.start();
    await expect.poll(beginning).not.toBe(first);
    const second = beginning();
    await write(MIB);
    for (let writes = 0; writes < 20; writes++) {
      await sleep(50);
      await write(100);
    }
    expect(beginning(), 'its file is as long as before, and almost empty').toBe(second);
    await write(bytes);
    await expect.poll(beginning).not.toBe(second);
  },
);

test('a short log is left alone', async () => {
  await write(MIB);
  const first = beginning();
  checkpoints.start();
  await sleep(1_000);
  expect(beginning()).toBe(first);
});

test('a log that is written all the time stays short, and so does its file', async () => {
  checkpoints.start();
  let longest = 0;
  for (let writes = 0; writes < 200; writes++) {
    await write(MIB);
    longest = Math.max(longest, statSync(`${database.path}-wal`).size);
    await sleep(15);
  }
  expect(longest).toBeLessThan(100 * MIB);
});
