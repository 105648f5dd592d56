import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { journalPath, unfinishedJournals, viewJournal } from '../../../../../shared/stores/journal/folder.ts';
import type { Journal } from '../../../../../shared/stores/journal/journal.ts';
import { beginJournal, reopenJournal } from '../../../../../shared/stores/journal/opening.ts';
import { bootId } from '../../../../../shared/stores/journal/power-cut.ts';
import { MemoryStore, storedTask } from '../../../../../shared/stores/memory/store.ts';
import { FAST_RUN, progressOf } from '../../../../support/builders.ts';
import { newFolder } from '../../../../support/journaled-store.ts';

const BEGINNING = {
  run: 'r',
  options: FAST_RUN,
  seeds: [{ url: 'http://u:secret@a.test/' }],
  flags: { RATE_LIMIT: 'none' },
};

async function setup() {
  const folder = await newFolder();
  const opened: Journal[] = [];
  onTestFinished(async () => {
    for (const journal of opened) await journal.close();
    await rm(folder, { recursive: true });
  });
  const keep = (journal: Journal): Journal => {
    opened.push(journal);
    return journal;
  };
  const options = { folder, now: 1_000_000 };
  return {
    folder,
    path: journalPath(folder, 'r'),
    begin: async (run = 'r') => keep(await beginJournal({ ...BEGINNING, run }, options)),
    reopen: async (store = new MemoryStore()) => keep(await reopenJournal('r', store, options)),
  };
}

function task(path: string) {
  const url = `http://a.test/${path}`;
  return storedTask({ url, mark: url, host: 'a.test', step: '', depth: 0, queue: 'normal' }, 1_000_000);
}

test('while one has it open, another is refused and told who; afterwards it is let in', async () => {
  const { begin, reopen } = await setup();
  const journal = await begin();
  await expect(reopen()).rejects.toThrow(`is being written by process ${process.pid} on `);
  await expect(begin()).rejects.toThrow('is being written by');
  await journal.close();
  await reopen();
});

test('what was begun and has not ended is not begun again; what has ended makes way, with higher sessions', async () => {
  const { begin, reopen, path } = await setup();
  const first = await begin();
  await first.close();
  await expect(begin()).rejects.toThrow('go on with it by --resume r, or choose another --run');
  const second = await reopen();
  await second.end(progressOf({ state: 'finished' }));
  await second.close();
  await (await begin()).close();
  expect(await readFile(path, 'utf8')).toMatch(/\nsession\t3\t/);
});

test('an ended run leaves two lines: how it began, without its URLs, and how it ended', async () => {
  const { begin, folder, path } = await setup();
  const journal = await begin();
  await journal.offered(0, [task('1')], 0);
  await journal.end(progressOf({ state: 'finished', done: 1 }));
  await journal.close();
  const text = await readFile(path, 'utf8');
  expect(text.split('\n').length).toBe(3);
  expect(text).not.toContain('secret');
  expect(viewJournal(folder, 'r')?.ended).toMatchObject({ state: 'finished', done: 1 });
  expect(await unfinishedJournals(folder)).toEqual([]);
});

test('of several runs that have not ended, the one touched last comes first; a journal without its first line is none', async () => {
  const { begin, folder } = await setup();
  for (const run of ['old', 'new']) await (await begin(run)).close();
  await mkdir(dirname(journalPath(folder, 'torn')));
  await writeFile(journalPath(folder, 'torn'), 'journal\t1\tto');
  const touched = (await unfinishedJournals(folder)).map(({ beginning, touchedAt }) => [beginning.run, touchedAt]);
  expect(touched.map(([run]) => run).toSorted()).toEqual(['new', 'old']);
  expect(touched[0]?.[1]).toBeGreaterThanOrEqual(Number(touched[1]?.[1]));
  expect(viewJournal(folder, 'nothing')).toBeUndefined();
});

test('only its owner can read it: it has URLs with their credentials', async () => {
  const { begin, path } = await setup();
  await begin();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('after a power cut, what the disk had not been told is forgotten: the record may not be there', async () => {
  const { begin, reopen, path } = await setup();
  const journal = await begin();
  const [safe, unsafe] = [task('safe'), task('unsafe')];
  await journal.offered(0, [safe, unsafe], 0);
  await journal.ended(safe, { kind: 'done' }, 1);
  await journal.sync();
  await journal.ended(unsafe, { kind: 'done' }, 1);
  const text = await readFile(path, 'utf8');
  await journal.close();
  await writeFile(path, text);
  const store = new MemoryStore();
  await (await reopen(store)).close();
  expect(store.runs.get('r'), 'the process died, not the machine').toMatchObject({ done: bootId() === '' ? 1 : 2 });
  await writeFile(path, text.replace(/[0-9a-f-]{36}/, 'f'.repeat(36)));
  const after = new MemoryStore();
  await reopen(after);
  expect(after.runs.get('r')).toMatchObject({ discovered: 2, done: 1, waiting: 1 });
});

test('records are brought to the disk before the journal that speaks of them', async () => {
  const folder = await newFolder();
  onTestFinished(() => rm(folder, { recursive: true }));
  const seen: boolean[] = [];
  const path = journalPath(folder, 'r');
  const syncFirst = async (): Promise<void> => {
    seen.push((await readFile(path, 'utf8')).includes('\nsynced'));
  };
  const journal = await beginJournal(BEGINNING, { folder, now: 0, syncFirst });
  await journal.close();
  expect(seen[0]).toBe(false);
});
