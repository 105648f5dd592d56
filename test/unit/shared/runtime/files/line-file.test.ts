import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RemovedFileError } from '../../../../../shared/runtime/errors.ts';
import { LineFile } from '../../../../../shared/runtime/files/line-file.ts';

async function setup(): Promise<LineFile> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-lines-'));
  const file = new LineFile(join(folder, 'deep', 'file'));
  onTestFinished(async () => {
    await file.close();
    await rm(folder, { recursive: true });
  });
  return file;
}

test('lines of one turn are one write, in order; the file’s size is known once they are written', async () => {
  const file = await setup();
  const [first, second] = [file.append('a\n'), file.append('bé\n')];
  expect(first).toBe(second);
  expect(file.size).toBe(0);
  await second;
  await file.append('c\n');
  expect(await readFile(file.path, 'utf8')).toBe('a\nbé\nc\n');
  expect(file.size).toBe(8);
});

test('large lines are written before the end of their turn, to bound the memory', async () => {
  const file = await setup();
  const line = `${'x'.repeat(4 * 1024 ** 2)}\n`;
  const [first, second, third] = [file.append(line), file.append(line), file.append('a\n')];
  expect(file.size).toBe(2 * line.length);
  expect(second).toBe(first);
  expect(third).not.toBe(second);
  await Promise.all([first, second, third]);
  expect(await readFile(file.path, 'utf8')).toBe(`${line}${line}a\n`);
});

test('waiting lines are written on close', async () => {
  const file = await setup();
  const written = file.append('a\n');
  await file.close();
  await written;
  expect(await readFile(file.path, 'utf8')).toBe('a\n');
});

test('lines appended during close are written and synced, too', async () => {
  const file = await setup();
  await file.append('a\n');
  const closed = file.close();
  const written = file.append('b\n');
  await closed;
  await written;
  expect([await readFile(file.path, 'utf8'), file.isDirty, file.isOpen]).toEqual(['a\nb\n', false, false]);
});

test('the file is dirty until it has been synced', async () => {
  const file = await setup();
  await file.append('a\n');
  expect(file.isDirty).toBe(true);
  await file.sync();
  expect(file.isDirty).toBe(false);
});

test('a failed sync fails all later ones, and those requested while it runs', async () => {
  // A device that takes every byte, and can't be told to keep one.
  const file = new LineFile('/dev/null');
  await file.append('a\n');
  const both = [file.sync(), file.sync()];
  for (const sync of both) await expect(sync).rejects.toThrow("/dev/null can't be written: EINVAL");
  await expect(file.sync()).rejects.toThrow('EINVAL');
  await expect(file.close()).rejects.toThrow('EINVAL');
});

test('a new file is left alone by the next one with its name, and opened again by its own process', async () => {
  const { path } = await setup();
  const [first, second] = [new LineFile(path, { isNew: true }), new LineFile(path, { isNew: true })];
  await first.append('a\n');
  await second.append('b\n');
  await Promise.all([first.close(), second.close()]);
  expect([first.isOpen, second.isOpen]).toEqual([false, false]);
  await first.append('c\n');
  await second.append('d\n');
  await Promise.all([first.close(), second.close()]);
  expect(second.path).toBe(`${path}-2`);
  expect([await readFile(path, 'utf8'), await readFile(second.path, 'utf8')]).toEqual(['a\nc\n', 'b\nd\n']);
});

test.each([
  ['a line that a crash tore is cut off before the next one', 'a\n', 'a\nb\n'],
  ['a file with nothing but a torn line begins anew', '', 'b\n'],
])('%s', async (_, before, after) => {
  const file = await setup();
  await file.append(`${before}${'x'.repeat(200_000)}`);
  await file.close();
  await file.append('b\n');
  expect(await readFile(file.path, 'utf8')).toBe(after);
});

test('lines of a removed file are lost, which is an error; the next ones go to a new file', async () => {
  const file = await setup();
  await file.append('a\n');
  await rm(file.path);
  await expect(file.append('b\n')).rejects.toThrow(`${file.path} was removed while it was being written`);
  await file.append('c\n');
  await file.sync();
  expect(await readFile(file.path, 'utf8')).toBe('c\n');
});

test('syncing a removed file is an error, too', async () => {
  const file = await setup();
  await file.append('a\n');
  await rm(dirname(file.path), { recursive: true });
  for (let tries = 0; tries < 2; tries++) await expect(file.sync()).rejects.toThrow(RemovedFileError);
  await expect(file.append('b\n')).rejects.toThrow(RemovedFileError);
  await file.append('c\n');
  await file.sync();
  expect(await readFile(file.path, 'utf8')).toBe('c\n');
});
