import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LineFile } from '../../../shared/line-file.ts';

async function setup(): Promise<LineFile> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-lines-'));
  const file = new LineFile(join(folder, 'deep', 'file'));
  onTestFinished(async () => {
    await file.close();
    await rm(folder, { recursive: true });
  });
  return file;
}

test('lines of one turn are one write, in their order; its size is known when they are written', async () => {
  const file = await setup();
  const [first, second] = [file.append('a\n'), file.append('bé\n')];
  expect(first).toBe(second);
  expect(file.size).toBe(0);
  await second;
  await file.append('c\n');
  expect(await readFile(file.path, 'utf8')).toBe('a\nbé\nc\n');
  expect(file.size).toBe(8);
});

test('what waits is written when it is closed', async () => {
  const file = await setup();
  const written = file.append('a\n');
  await file.close();
  await written;
  expect(await readFile(file.path, 'utf8')).toBe('a\n');
});

test('it is dirty until the disk has been told', async () => {
  const file = await setup();
  await file.append('a\n');
  expect(file.isDirty).toBe(true);
  await file.sync();
  expect(file.isDirty).toBe(false);
});

test('a disk that refused to be told refuses for good, also those who ask while it is told', async () => {
  // A device that takes every byte, and can't be told to keep one.
  const file = new LineFile('/dev/null');
  await file.append('a\n');
  const both = [file.sync(), file.sync()];
  for (const sync of both) await expect(sync).rejects.toThrow("/dev/null can't be written: EINVAL");
  await expect(file.sync()).rejects.toThrow('EINVAL');
  await expect(file.close()).rejects.toThrow('EINVAL');
});
