import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FolderFiles } from '../../../../../shared/sinks/files/store.ts';

const HASH = 'ab'.repeat(32);

async function setup(): Promise<{ folder: string; files: FolderFiles }> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-files-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return { folder, files: new FolderFiles({ folder, downloadMs: 1_200_000 }) };
}

test('a file is stored under its hash beside the records of its run, once even if many store it at the same time', async () => {
  const { folder, files } = await setup();
  const file = { run: 'r', body: Buffer.from('a file'), hash: HASH, extension: 'pdf' };
  const paths = await Promise.all(Array.from({ length: 5 }, () => files.put(file)));
  expect(new Set(paths)).toEqual(new Set([`files/${HASH}.pdf`]));
  expect(await readdir(join(folder, 'r/files'))).toEqual([`${HASH}.pdf`]);
  expect(await readFile(join(folder, 'r', `files/${HASH}.pdf`), 'utf8')).toBe('a file');
  expect(await files.put({ ...file, extension: undefined })).toBe(`files/${HASH}`);
});

test('a file of another length is written again', async () => {
  const { folder, files } = await setup();
  const file = { run: 'r', body: Buffer.from('a file'), hash: HASH, extension: undefined };
  const path = join(folder, 'r', await files.put(file));
  await writeFile(path, 'a');
  await files.put(file);
  expect(await readFile(path, 'utf8')).toBe('a file');
});

test('a file that can not be written is an error with its path and the setting, and leaves nothing behind', async () => {
  const { folder, files } = await setup();
  await writeFile(join(folder, 'r'), 'no folder');
  const put = files.put({ run: 'r', body: Buffer.from('a file'), hash: HASH, extension: 'pdf' });
  await expect(put).rejects.toThrow(/r\/files can't be written: ENOTDIR.*OUTPUT_DIR/);
  expect(await readdir(folder)).toEqual(['r']);
});

test('unfinished files of killed processes are removed when their run gets a file, once they are older than the longest download', async () => {
  const { folder, files } = await setup();
  const place = join(folder, 'r', 'files');
  await mkdir(place, { recursive: true });
  const aged = async (name: string, seconds: number): Promise<void> => {
    const at = Date.now() / 1_000 - seconds;
    await writeFile(join(place, name), 'half');
    await utimes(join(place, name), at, at);
  };
  const [old, young] = ['.0123456789abcdef.part', '.fedcba9876543210.part'];
  await aged(old, 1_300);
  await aged(young, 1_100);
  await aged('.mine.part', 9_999);
  await aged('abc.png', 9_999);
  const put = (run: string) => files.put({ run, body: Buffer.from('a'), hash: 'ff', extension: undefined });
  await put('r');
  expect((await readdir(place)).toSorted()).toEqual([young, '.mine.part', 'abc.png', 'ff'].toSorted());
  // The folder is looked at once an hour, not for each file.
  await aged(old, 1_300);
  await put('r');
  expect(await readdir(place)).toContain(old);
});

test('a file that a slow disk is still writing is not removed', async () => {
  const { folder } = await setup();
  const files = new FolderFiles({ folder, downloadMs: 100 });
  const unfinished = join(folder, 'r', 'files', '.0123456789abcdef.part');
  await mkdir(join(folder, 'r', 'files'), { recursive: true });
  await writeFile(unfinished, 'half');
  const at = Date.now() / 1_000 - 500;
  await utimes(unfinished, at, at);
  await files.put({ run: 'r', body: Buffer.from('a'), hash: 'ff', extension: undefined });
  expect(await readdir(join(folder, 'r', 'files'))).toContain('.0123456789abcdef.part');
});
