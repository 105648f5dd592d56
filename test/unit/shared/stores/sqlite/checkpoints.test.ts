import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** Changes whenever the log begins at its beginning: https://www.sqlite.org/fileformat2.html#walformat */
function beginning(): string {
  return readFileSync(`${database.path}-wal`).subarray(16, 24).toString('hex');
}

function lookAndRead(): string {
  checkpoints.look();
  return beginning();
}

test.each([
  ['long', 9 * MIB],
  ['too long', 40 * MIB],
])(
  'a log that is %s begins anew without a write of ours, and then no sooner than it is long again',
  async (_, bytes) => {
    await write(bytes);
    const first = beginning();
    await expect.poll(lookAndRead, { timeout: 10_000 }).not.toBe(first);
    const second = beginning();
    await write(MIB);
    for (let looks = 0; looks < 20; looks++) {
      checkpoints.look();
      await new Promise((resolve) => setTimeout(resolve, 25));
      await write(100);
    }
    expect(beginning(), 'its file is as long as before, and almost empty').toBe(second);
    await write(bytes);
    await expect.poll(lookAndRead, { timeout: 10_000 }).not.toBe(second);
  },
);

test('a short log is left alone', async () => {
  await write(MIB);
  const first = beginning();
  for (let looks = 0; looks < 10; looks++) checkpoints.look();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(beginning()).toBe(first);
});
