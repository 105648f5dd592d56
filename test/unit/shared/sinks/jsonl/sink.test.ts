import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { PageRecord } from '../../../../../shared/ports/record.ts';
import type { NoRecord } from '../../../../../shared/ports/sink.ts';
import { StorageError } from '../../../../../shared/runtime/errors.ts';
import { LineFile } from '../../../../../shared/runtime/files/line-file.ts';
import { JsonlSink } from '../../../../../shared/sinks/jsonl/sink.ts';
import { JsonlSource } from '../../../../../shared/sinks/jsonl/source.ts';
import { NewestReleases } from '../../../../../shared/sinks/newest-releases.ts';
import { taskIdOf } from '../../../../../shared/task/url/fingerprint.ts';
import { doneRecord, failedRecord } from '../../../../support/builders.ts';
import { collectGarbage } from '../../../../support/hostile/garbage.ts';

type Most = Pick<ConstructorParameters<typeof JsonlSink>[0], 'mostFiles' | 'mostIdle'>;

async function setup(worker = 'w-1', most: Most = {}): Promise<{ folder: string; sink: JsonlSink; file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-sink-'));
  const sink = new JsonlSink({ folder, worker, ...most });
  await sink.start();
  onTestFinished(async () => {
    await sink.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return { folder, sink, file: join(folder, 'r', `${worker}.jsonl`) };
}

function openSource(folder: string) {
  const lines: NoRecord[] = [];
  return { source: new JsonlSource(folder), leftOut: { lines, push: (found: NoRecord) => void lines.push(found) } };
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

test('with many runs, the ones idle for longest are forgotten', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { folder, sink } = await setup('w-1', { mostFiles: 2 });
  const put = async (run: string, page: number) => await sink.put(doneRecord(`http://a.test/${page}`, { run }));
  for (const run of ['old', 'late', 'new']) await put(run, 1);
  // Then they are closed, and then looked at again.
  for (const laterMs of [60_000, 1_000, 1_000]) {
    vi.advanceTimersByTime(laterMs);
    await sleep(100);
  }
  for (const run of ['old', 'late', 'new']) await put(run, 2);
  const files = async (run: string) => (await readdir(join(folder, run))).toSorted();
  expect(await files('old')).toEqual(['w-1-2.jsonl', 'w-1.jsonl']);
  for (const run of ['late', 'new']) expect(await files(run)).toEqual(['w-1.jsonl']);
  for (const run of ['old', 'late', 'new']) expect(await merged(folder, run)).toHaveLength(2);
});

test('with many small runs, few files stay open', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
  const close = vi.spyOn(LineFile.prototype, 'close');
  onTestFinished(() => {
    close.mockRestore();
    vi.useRealTimers();
  });
  const { folder, sink } = await setup('w-1', { mostIdle: 3 });
  const runs = Array.from({ length: 20 }, (_, n) => `run-${n}`);
  const put = async (run: string, page: number) => await sink.put(doneRecord(`http://a.test/${page}`, { run }));
  for (const run of runs) await put(run, 1);
  const closed = (): void => {
    vi.advanceTimersByTime(250);
    expect(close).toHaveBeenCalledTimes(17);
  };
  await vi.waitFor(closed, { timeout: 10_000 });
  await sink.sync();
  await put('run-0', 2);
  expect(await readdir(join(folder, 'run-0'))).toEqual(['w-1.jsonl']);
  expect(await merged(folder, 'run-0')).toHaveLength(2);
});

test("a file of the same name is another process': its lines stay as they are, also one that is just being written", async () => {
  const { folder, sink, file } = await setup();
  await mkdir(join(folder, 'r'));
  const begun = `${JSON.stringify(doneRecord('http://a.test/1'))}\n{"run":"r","task":"r:12","outc`;
  await writeFile(file, begun);
  expect((await merged(folder)).length).toBe(1);
  await sink.put(doneRecord('http://a.test/2'));
  expect(await readFile(file, 'utf8')).toBe(begun);
  expect((await merged(folder)).map(({ url }) => url).toSorted()).toEqual(['http://a.test/1', 'http://a.test/2']);
  await sink.put(doneRecord('http://a.test/3'));
  expect((await readdir(join(folder, 'r'))).toSorted()).toEqual(['w-1-2.jsonl', 'w-1.jsonl']);
});

test('a page stored twice is read once, with its highest release, whoever wrote it', async () => {
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

test('a record is one line, whatever its texts hold: only a line feed ends it', async () => {
  const { folder, sink } = await setup();
  const odd = `\u2028{}\u2028[]\u2029{"task":1}\u0085\u000b\u000c\r\n`;
  const records = [1, 2].map((n) =>
    doneRecord(`http://a.test/${n}`, { title: odd, content: odd, data: { [odd]: odd } }),
  );
  for (const record of records) await sink.put(record);
  const { source, leftOut } = openSource(folder);
  expect(await Array.fromAsync(source.read('r', { onNoRecord: leftOut.push }))).toEqual(records);
  expect(await source.find('r', records[0]?.task ?? '')).toEqual(records[0]);
  expect(leftOut.lines).toEqual([]);
});

test('a line that is no record is left out and named, by file, number and first characters', async () => {
  const { folder, sink, file } = await setup();
  await sink.put(doneRecord('http://a.test/1'));
  const { task, release, ...rest } = doneRecord('http://a.test/2');
  const others = ['{}', '[]', 'null', '7', 'no JSON', '{"task":{}}', '', '  ', `${'x'.repeat(300)}`];
  const halves = [rest, { ...rest, task }, { ...rest, task, release: '1' }, { ...rest, task: 'nobody', release }];
  await appendFile(file, `${[...others, ...halves.map((half) => JSON.stringify(half))].join('\n')}\n`);
  await appendFile(file, `${JSON.stringify(doneRecord('http://a.test/3'))}\r\n{"run":"r","ta`);
  const { source, leftOut } = openSource(folder);
  const urls = (await Array.fromAsync(source.read('r', { onNoRecord: leftOut.push }))).map(({ url }) => url);
  expect(urls).toEqual(['http://a.test/1', 'http://a.test/3']);
  expect(leftOut.lines.map(({ file: named, line }) => [named, line])).toEqual(
    [2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14].map((line) => [file, line]),
  );
  expect(leftOut.lines.map(({ begins }) => begins).slice(0, 7)).toEqual([
    ...['{}', '[]', 'null', '7', 'no JSON', '{"task":{}}'],
    'x'.repeat(80),
  ]);
});

test('a line that is longer than any record is passed over without being held', async () => {
  const { folder, sink, file } = await setup();
  await sink.put(doneRecord('http://a.test/1'));
  const block = Buffer.alloc(16 * 2 ** 20, 'y');
  for (let i = 0; i < 12; i++) await appendFile(file, block);
  await appendFile(file, `\n${JSON.stringify(doneRecord('http://a.test/2'))}\n`);
  const { source, leftOut } = openSource(folder);
  let most = 0;
  const watch = setInterval(() => {
    // What was read and let go may lie there until it is collected.
    collectGarbage();
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }, 100);
  onTestFinished(() => clearInterval(watch));
  const urls = (await Array.fromAsync(source.read('r', { onNoRecord: leftOut.push }))).map(({ url }) => url);
  expect(urls).toEqual(['http://a.test/1', 'http://a.test/2']);
  expect(leftOut.lines).toEqual([{ file, line: 2, begins: 'y'.repeat(80) }]);
  expect(most).toBeLessThan(block.length + 96 * 2 ** 20);
  // 200 MB through a busy disk.
}, 120_000);

test('a folder whose name is no run id is ignored', async () => {
  const { folder, sink } = await setup();
  await sink.put(doneRecord('http://a.test/1'));
  await mkdir(join(folder, 'No Run'));
  const inside = new JsonlSource(join(folder, 'r'));
  expect(await new JsonlSource(folder).runs()).toEqual(['r']);
  expect([await inside.has('../r'), await Array.fromAsync(inside.read('../r'))]).toEqual([false, []]);
});

test.each([
  ['a file where the folder should be', 'r/w-1.jsonl', 'ENOTDIR'],
  ['a folder where a file should be', '.', 'EISDIR'],
])('%s is named', async (_, below, code) => {
  const { folder, sink } = await setup();
  await sink.put(doneRecord('http://a.test/1'));
  await mkdir(join(folder, 'r', 'w-2.jsonl'));
  const reading = Array.fromAsync(new JsonlSource(join(folder, below)).read('r'));
  await expect(reading).rejects.toThrow(StorageError);
  await expect(reading).rejects.toThrow(`${join(folder, 'r')}`);
  await expect(reading).rejects.toThrow(code);
});

test('the run that began last is found without reading those whose files are older by days', async () => {
  const { folder, sink } = await setup();
  const began = { long: '2026-11-01', newest: '2026-11-20', touched: '2026-11-05' };
  for (const [run, day] of Object.entries(began)) {
    await sink.put(doneRecord('http://a.test/1', { run, fetchedAt: `${day}T12:00:00.000Z` }));
    const at = new Date(`${run === 'touched' ? '2026-11-25' : day}T13:00:00.000Z`);
    await utimes(join(folder, run, 'w-1.jsonl'), at, at);
  }
  // Whoever opens it rejects.
  await mkdir(join(folder, 'older', 'w-1.jsonl'), { recursive: true });
  await utimes(join(folder, 'older', 'w-1.jsonl'), new Date(0), new Date(0));
  const { source } = openSource(folder);
  expect(await source.last()).toBe('newest');
  await rm(join(folder, 'newest'), { recursive: true });
  await rm(join(folder, 'touched'), { recursive: true });
  expect(await source.last()).toBe('long');
});

test('a run without records yields none', async () => {
  const { folder } = await setup();
  expect(await new JsonlSource(folder).has('r')).toBe(false);
  expect(await merged(folder)).toEqual([]);
});

test('an aborted signal ends the reading before the first record', async () => {
  const { folder } = await setup();
  await mkdir(join(folder, 'r'));
  await writeFile(join(folder, 'r', 'w.jsonl'), `${JSON.stringify(doneRecord('http://a.test/'))}\n`);
  const leaving = new AbortController();
  leaving.abort(new Error('gone'));
  const read = new JsonlSource(folder).read('r', { onCounted: () => expect.unreachable(), signal: leaving.signal });
  await expect(Array.fromAsync(read)).rejects.toThrow('gone');
});

test('the highest releases of many tasks, in a table that grows', () => {
  const newest = new NewestReleases(20_000);
  const tasks = Array.from({ length: 20_000 }, (_, i) => taskIdOf('r', `http://a.test/${i}`));
  for (const [index, task] of tasks.entries())
    for (const release of [index, index + 5, index + 1]) newest.see(task, release);
  expect(tasks.filter((task, index) => newest.take(task, index)).length).toBe(0);
  expect(tasks.filter((task, index) => newest.take(task, index + 5)).length).toBe(20_000);
  expect(tasks.filter((task, index) => newest.take(task, index + 5)).length).toBe(0);
});

test('the same with more tasks than expected, few of which have several records', () => {
  const newest = new NewestReleases(10);
  const tasks = Array.from({ length: 20_000 }, (_, i) => taskIdOf('r', `http://a.test/${i}`));
  const [older, newer] = [tasks.slice(0, 10), tasks.slice(10, 20)];
  const records = Object.entries({ 7: tasks, 6: older, 8: newer });
  for (const [release, these] of records) for (const task of these) newest.see(task, Number(release));
  const taken = records.map(([release, these]) => [
    release,
    these.filter((task) => newest.take(task, Number(release))).length,
  ]);
  expect(Object.fromEntries(taken)).toEqual({ 6: 0, 7: 19_990, 8: 10 });
});

test('a task with one record costs a few bits', () => {
  const tasks = 300_000;
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  const newest = new NewestReleases(tasks);
  for (let n = 0; n < tasks; n++) newest.see(`r:${(n * 2_654_435_761).toString(16).padStart(32, String(n))}`, 1);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000);
  expect(newest.take(`r:${'0'.repeat(32)}`, 1)).toBe(true);
});

test('lines written while records are read are left out, and no record is returned twice', async () => {
  const { folder, sink } = await setup();
  await sink.put(doneRecord('http://a.test/1'));
  await sink.put(doneRecord('http://a.test/2'));
  const other = join(folder, 'r', 'w-2.jsonl');
  await writeFile(other, `${JSON.stringify(doneRecord('http://a.test/3'))}\n`);
  const found: string[] = [];
  for await (const { url } of new JsonlSource(folder).read('r')) {
    if (found.push(url) === 1) {
      const late = ['http://a.test/1', 'http://a.test/4'].map((each) => doneRecord(each, { release: 9 }));
      for (const file of [other, join(folder, 'r', 'w-1.jsonl')])
        await appendFile(file, late.map((each) => `${JSON.stringify(each)}\n`).join(''));
    }
  }
  expect(found.toSorted()).toEqual([1, 2, 3].map((n) => `http://a.test/${n}`));
});
