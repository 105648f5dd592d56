import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { PageRecord } from '../../../../shared/record.ts';
import { JsonlSink } from '../../../../shared/sinks/jsonl.ts';
import { JsonlSource } from '../../../../shared/sinks/jsonl-source.ts';
import { NewestReleases } from '../../../../shared/sinks/newest-releases.ts';
import { taskIdOf } from '../../../../shared/task/fingerprint.ts';
import { doneRecord, failedRecord } from '../../../support/builders.ts';

async function setup(worker = 'w-1'): Promise<{ folder: string; sink: JsonlSink; file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-sink-'));
  const sink = new JsonlSink({ folder, worker });
  await sink.start();
  onTestFinished(async () => {
    await sink.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return { folder, sink, file: join(folder, 'r', `${worker}.jsonl`) };
}

async function merged(folder: string, run = 'r'): Promise<PageRecord[]> {
  return await Array.fromAsync(new JsonlSource(folder).read(run));
}

test('a record that was put is in the file, a line each', async () => {
  const { sink, file } = await setup();
  const records = Array.from({ length: 500 }, (_, i) => doneRecord(`http://a.test/${i}`));
  await Promise.all(records.map((record) => sink.put(record)));
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(records);
});

test('each run has a folder, each process a file', async () => {
  const { folder, sink } = await setup();
  const other = new JsonlSink({ folder, worker: 'w-2' });
  await sink.put(doneRecord('http://a.test/1'));
  await sink.put(doneRecord('http://a.test/1', { run: 's' }));
  await other.put(doneRecord('http://a.test/2'));
  await other.stop();
  expect((await merged(folder)).map(({ url }) => url).toSorted()).toEqual(['http://a.test/1', 'http://a.test/2']);
  expect((await merged(folder, 's')).length).toBe(1);
  expect((await new JsonlSource(folder).runs()).toSorted()).toEqual(['r', 's']);
});

test('a line that a crash tore is cut off before the next one, and skipped by readers', async () => {
  const { folder, sink, file } = await setup();
  await mkdir(join(folder, 'r'));
  await writeFile(file, `${JSON.stringify(doneRecord('http://a.test/1'))}\n{"run":"r","task":"r:12","outc`);
  expect((await merged(folder)).length).toBe(1);
  await sink.put(doneRecord('http://a.test/2'));
  expect((await readFile(file, 'utf8')).split('\n').length).toBe(3);
  expect((await merged(folder)).map(({ url }) => url)).toEqual(['http://a.test/1', 'http://a.test/2']);
});

test('a file with nothing but a torn line begins anew', async () => {
  const { folder, sink, file } = await setup();
  await mkdir(join(folder, 'r'));
  await writeFile(file, `{"url":"${'x'.repeat(200_000)}`);
  await sink.put(doneRecord('http://a.test/2'));
  expect((await readFile(file, 'utf8')).split('\n').length).toBe(2);
});

test('of a page stored twice, the highest release counts, once, whoever wrote it', async () => {
  const { folder, sink, file } = await setup();
  const other = new JsonlSink({ folder, worker: 'w-2' });
  await other.put(doneRecord('http://a.test/1', { release: 9, worker: 'w-2' }));
  await sink.put(doneRecord('http://a.test/1', { release: 2 }));
  await sink.put(doneRecord('http://a.test/2', { release: 3 }));
  await other.put(failedRecord('http://a.test/2', { release: 7 }));
  await other.stop();
  await appendFile(file, `${JSON.stringify(doneRecord('http://a.test/3', { release: 4 }))}\n`.repeat(2));
  const pages = (await merged(folder)).map(({ url, release, outcome }) => [url, release, outcome]);
  expect(pages.toSorted()).toEqual([
    ['http://a.test/1', 9, 'done'],
    ['http://a.test/2', 7, 'failed'],
    ['http://a.test/3', 4, 'done'],
  ]);
});

test('a folder that can not be written to rejects, and the next record is tried again', async () => {
  const { folder, sink } = await setup();
  await writeFile(join(folder, 'r'), 'a file where the folder should be');
  await expect(sink.put(doneRecord('http://a.test/1'))).rejects.toThrow(/EEXIST|ENOTDIR/);
  await rm(join(folder, 'r'));
  await sink.put(doneRecord('http://a.test/1'));
  expect((await merged(folder)).length).toBe(1);
});

test('a run without records has none', async () => {
  const { folder } = await setup();
  expect(await new JsonlSource(folder).has('r')).toBe(false);
  expect(await merged(folder)).toEqual([]);
});

test('the highest releases of many tasks, in a table that grows', () => {
  const newest = new NewestReleases(4);
  const tasks = Array.from({ length: 20_000 }, (_, i) => taskIdOf('r', `http://a.test/${i}`));
  for (const [index, task] of tasks.entries())
    for (const release of [index, index + 5, index + 1]) newest.see(task, release);
  expect(tasks.filter((task, index) => newest.take(task, index)).length).toBe(0);
  expect(tasks.filter((task, index) => newest.take(task, index + 5)).length).toBe(20_000);
  expect(tasks.filter((task, index) => newest.take(task, index + 5)).length).toBe(0);
});
