import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { StorageError } from '../../../../../shared/runtime/errors.ts';
import { makeOutputFolder } from '../../../../../shared/runtime/files/output-folder.ts';

async function setup(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-folder-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('a folder is created with its parents, and creating it again changes nothing', async () => {
  const folder = await setup();
  for (const path of ['a/b/c', 'a/b/c/', 'a/./b/../d', '.']) makeOutputFolder(join(folder, path));
  expect((await readdir(folder, { recursive: true })).toSorted()).toEqual(['a', 'a/b', 'a/b/c', 'a/d']);
});

test('a folder that can not be created is an error with its path and the setting', async () => {
  const file = join(await setup(), 'file');
  await writeFile(file, '');
  for (const [path, code] of [
    [file, 'ENOTDIR'],
    [join(file, 'below'), 'ENOTDIR'],
    ['/dev/null/x/y', 'ENOTDIR'],
    // The recursive mkdir of Node.js never returns from here.
    ['/proc/trawl/r', 'ENOENT'],
  ] as const) {
    const make = (): void => makeOutputFolder(path);
    expect(make).toThrow(StorageError);
    expect(make).toThrow(`${path} can't be written: ${code}: `);
    expect(make).toThrow('OUTPUT_DIR, --output-dir');
  }
});
