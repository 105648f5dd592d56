import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { nameOf } from '../../../../../shared/ports/frontier/frontier.ts';
import { elapsedMs } from '../../../../../shared/ports/runs.ts';
import {
  beginRun,
  isBeingCrawled,
  reopenRun,
  SqliteLocalRuns,
} from '../../../../../shared/stores/sqlite/local-runs.ts';
import type { OwnedLocalRun } from '../../../../../shared/stores/sqlite/owned-run.ts';
import { PAGE_RETENTION_MS } from '../../../../../shared/task/task/known-page.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { EVERYTHING, offerOf } from '../../../../support/stores/embedded.ts';
import { crashedFolder, newFolder } from '../../../../support/stores/kept-store.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

const OPTIONS = { ...FAST_RUN, dedup: 'run' } as const;
const BEGINNING = {
  crawler: 'page',
  run: 'r',
  options: OPTIONS,
  seeds: [{ url: 'http://u:secret@a.test/' }],
  flags: { RATE_LIMIT: 'none' },
};

/** A folder, as one process after another finds it. */
async function setup() {
  const folder = await newFolder();
  const clock = new SteppedClock();
  const closing: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const close of closing.splice(0)) await close();
    await rm(folder, { recursive: true });
  });
  return {
    folder,
    clock,
    /** A process that looks into the folder. */
    open() {
      const ports = openLocalParts({
        clock,
        path: join(folder, 'trawl.sqlite'),
        isBeingCrawled: (run) => isBeingCrawled(run, folder),
      });
      const parts = { store: ports.store, folder, syncRecords: async () => {} };
      const owned: OwnedLocalRun[] = [];
      const keep = (run: OwnedLocalRun): OwnedLocalRun => {
        owned.push(run);
        return run;
      };
      const close = async (): Promise<void> => {
        for (const run of owned.splice(0)) await run.close();
        ports.database.close();
      };
      closing.push(close);
      return {
        ...ports,
        close,
        views: new SqliteLocalRuns({ store: ports.store }),
        begin: async (run = 'r', changed: Partial<typeof parts> = {}) =>
          keep(await beginRun({ ...BEGINNING, run }, { ...parts, ...changed })),
        reopen: async () => keep(await reopenRun('r', parts)),
      };
    },
  };
}

test('while one process has a run open, another is refused with its name; afterwards it may open it', async () => {
  const { open } = await setup();
  const [one, other] = [open(), open()];
  const run = await one.begin();
  await expect(other.reopen()).rejects.toThrow(`run r is being crawled by process ${process.pid} on `);
  await expect(other.begin()).rejects.toThrow('is being crawled by');
  await run.close();
  await other.reopen();
});

test('the time of a run stands still while it is stopped, and other processes see that', async () => {
  const { clock, open } = await setup();
  const [one, other] = [open(), open()];
  const run = await one.begin();
  await one.runs.open('r', OPTIONS, 'p');
  await one.frontier.offer('r', [offerOf('http://a.test/1')]);
  const seen = async (): Promise<unknown> => {
    const progress = await other.runs.progress('r');
    return progress && { stoppedAt: progress.stoppedAt, elapsed: elapsedMs(progress) };
  };
  clock.step(7_000);
  expect(await seen()).toEqual({ stoppedAt: undefined, elapsed: 7_000 });
  await run.close();
  const stoppedAt = clock.now();
  clock.step(3_600_000);
  expect(await seen()).toEqual({ stoppedAt, elapsed: 7_000 });
  await one.reopen();
  clock.step(1_000);
  expect(await seen()).toEqual({ stoppedAt: undefined, elapsed: 8_000 });
});

test("a run that has not ended can't be begun again; one that has ended is replaced, with all its rows", async () => {
  const { open } = await setup();
  const { begin, runs, frontier } = open();
  await (await begin()).close();
  await expect(begin()).rejects.toThrow('resume it with --resume r, or choose another --run');
  const { reopen } = open();
  await (await reopen()).close();
  const again = open();
  await again.reopen();
  await again.runs.open('r', OPTIONS, 'p');
  await again.frontier.offer('r', [offerOf('http://a.test/1')]);
  const [released] = (await again.frontier.release(EVERYTHING)).tasks;
  if (released === undefined) throw new Error('nothing was released');
  await again.frontier.settle('r', nameOf(released), { outcome: { kind: 'done' } });
  await again.runs.seal('r', 'p');
  await again.close();
  await begin();
  await runs.open('r', OPTIONS, 'p');
  expect(await frontier.offer('r', [offerOf('http://a.test/1')])).toEqual({ accepted: 1, known: 0 });
});

test('an ended run keeps how it began and ended, but not its URLs and flags', async () => {
  const { open } = await setup();
  const { begin, runs, views } = open();
  const run = await begin();
  await runs.open('r', OPTIONS, 'p');
  await runs.seal('r', 'p');
  await run.end();
  const view = await views.view('r');
  expect(view).toMatchObject({ beginning: { run: 'r', seeds: [], flags: {} }, ended: { state: 'finished' } });
  expect(JSON.stringify(view)).not.toContain('secret');
  expect(await views.unfinished()).toEqual([]);
});

test('the end of a run deletes pages that other runs remembered 90 days ago', async () => {
  const place = await setup();
  await (await workedRun(place, true)).close();
  place.clock.step(PAGE_RETENTION_MS);
  const { begin, runs, store } = place.open();
  const run = await begin('later');
  await runs.open('later', OPTIONS, 'p');
  await runs.seal('later', 'p');
  await run.end();
  expect(await store.move(({ database }) => database.all('SELECT * FROM pages'))).toEqual([]);
});

test('URLs that a run with shared marks reads again after a crash are distinguished from those that another run has taken', async () => {
  const { open } = await setup();
  const ever = { ...OPTIONS, dedup: 'ever' } as const;
  const urls = [offerOf('http://a.test/1'), offerOf('http://a.test/2')];
  const one = open();
  for (const [run, offers] of [
    ['other', urls.slice(0, 1)],
    ['r', urls],
  ] as const) {
    await one.begin(run);
    await one.runs.open(run, ever, 'p');
    await one.frontier.offer(run, offers);
  }
  expect(await one.runs.progress('r')).toMatchObject({ discovered: 1, duplicate: 1 });
  await one.close();
  const { reopen, runs, frontier } = open();
  await reopen();
  await runs.open('r', ever, 'p');
  expect(await frontier.offer('r', urls)).toEqual({ accepted: 0, known: 2 });
  expect(await runs.progress('r')).toMatchObject({ discovered: 1, duplicate: 1 });
});

test('of several runs that have not ended, the one touched last comes first', async () => {
  const { open, clock } = await setup();
  const { begin, views } = open();
  for (const run of ['old', 'new']) {
    await (await begin(run)).close();
    clock.step(1_000);
  }
  expect((await views.unfinished()).map(({ beginning }) => beginning.run)).toEqual(['new', 'old']);
  expect(await views.view('nothing')).toBeUndefined();
});

test('only its owner can read the database: it has URLs with their credentials', async () => {
  const { open, folder } = await setup();
  await open().begin();
  for (const name of ['trawl.sqlite', 'trawl.sqlite-wal', 'trawl.sqlite-shm'])
    expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o600);
});

/** A run of three pages: one is done, one has failed, and one is in flight. */
async function workedRun({ open }: Awaited<ReturnType<typeof setup>>, isSynced: boolean) {
  const { begin, runs, frontier, close } = open();
  const run = await begin();
  await runs.open('r', { ...OPTIONS, incremental: true }, 'p');
  await frontier.offer('r', [offerOf('http://a.test/1'), offerOf('http://a.test/2'), offerOf('http://a.test/3')]);
  const { tasks } = await frontier.release(EVERYTHING);
  const [done, failed, inHand] = tasks;
  if (done === undefined || failed === undefined || inHand === undefined) throw new Error('three were expected');
  const page = { contentHash: 'x', bytes: 5, readAs: 'page', askedMsAgo: 0, bytesSaved: 0 };
  await frontier.settle('r', nameOf(done), { outcome: { kind: 'done' }, bytes: 5, page });
  await frontier.settle('r', nameOf(failed), { outcome: { kind: 'failed', reason: 'http_4xx' } });
  await frontier.admit('r', nameOf(inHand), 'w');
  if (isSynced) await run.sync();
  return { close };
}

test('another process continues a run: tasks in flight wait, done ones stay done, and each start counts', async () => {
  const place = await setup();
  const { close } = await workedRun(place, false);
  await close();
  const { reopen, runs, frontier } = place.open();
  expect((await reopen()).isSealed).toBe(false);
  expect(await runs.progress('r')).toMatchObject({ done: 1, failed: 1, waiting: 1, inFlight: 0, bytes: 5 });
  const [again] = (await frontier.release(EVERYTHING)).tasks;
  expect(again).toMatchObject({ task: { url: 'http://a.test/3' }, state: { starts: 1 } });
});

test('the time between two processes does not count', async () => {
  const place = await setup();
  const { begin, runs, close } = place.open();
  const run = await begin();
  await runs.open('r', OPTIONS, 'p');
  place.clock.step(5_000);
  await run.sync();
  await close();
  place.clock.step(3_600_000);
  const again = place.open();
  await again.reopen();
  place.clock.step(5_000);
  const progress = await again.runs.progress('r');
  expect(progress === undefined ? undefined : elapsedMs(progress)).toBe(10_000);
});

test.each([
  ['whose process had ended', true],
  ['whose machine was asleep', false],
])('a host whose last answer was an error is not given up for the next one, of a run %s', async (_, hasEnded) => {
  const place = await setup();
  const { begin, runs, frontier, close } = place.open();
  const failOne = async (of: typeof frontier): Promise<void> => {
    const [released] = (await of.release({ ...EVERYTHING, limit: 1 })).tasks;
    if (released === undefined) throw new Error('nothing was released');
    await of.settle('r', nameOf(released), {
      outcome: { kind: 'retry', reason: 'http_5xx', inMs: 0 },
      hostAnswered: false,
      hostTrouble: { kind: 'answered', reason: 'HTTP 500' },
    });
  };
  await begin();
  await runs.open('r', OPTIONS, 'p');
  await frontier.offer('r', [offerOf('http://a.test/1'), offerOf('http://a.test/2'), offerOf('http://a.test/3')]);
  await failOne(frontier);
  const later = hasEnded ? place.open() : { runs, frontier };
  if ('reopen' in later) {
    await close();
    place.clock.step(24 * 3_600_000);
    await later.reopen();
  } else place.clock.set(24 * 3_600_000);
  await failOne(later.frontier);
  place.clock.step(1_000);
  const { tasks } = await later.frontier.release(EVERYTHING);
  expect(tasks.map(({ verdict }) => verdict)).toEqual(['go', 'go', 'go']);
  const progress = await later.runs.progress('r');
  expect(progress === undefined ? undefined : elapsedMs(progress)).toBeLessThan(60_000);
});

test.each([
  [false, { done: 0, failed: 0, waiting: 3, bytes: 0, reasons: { failed: {}, skipped: {} } }],
  [true, { done: 1, failed: 1, waiting: 1, bytes: 5, reasons: { failed: { http_4xx: 1 }, skipped: {} } }],
])('after a power cut, pages wait again unless their records were synced: %s', async (isSynced, expected) => {
  const place = await setup();
  const { close } = await workedRun(place, isSynced);
  const before = await crashedFolder(place.folder);
  onTestFinished(() => rm(before, { recursive: true }));
  await close();
  // The machine has been restarted since.
  const { store: found, ...after } = openLocalParts({
    clock: place.clock,

    path: join(before, 'trawl.sqlite'),
  });
  await found.move(({ database }) => database.run("UPDATE crawls SET boot = 'another'"));
  const run = await reopenRun('r', { store: found, folder: before, syncRecords: async () => {} });
  expect(await after.runs.progress('r')).toMatchObject({ ...expected, discovered: 3, inFlight: 0 });
  const urls = (await after.frontier.release(EVERYTHING)).tasks.map(({ task }) => task.url);
  expect(urls.length).toBe(expected.waiting);
  expect(found.database.all('SELECT 1 FROM pages').length, 'known without its record').toBe(isSynced ? 1 : 0);
  await run.close();
  found.database.close();
});

test('records are synced to disk before finished tasks are forgotten; if that fails, the store stops', async () => {
  const place = await setup();
  const { begin, runs, frontier, database } = place.open();
  let isBroken = false;
  const order: string[] = [];
  const over = (): number => database.all('SELECT 1 FROM tasks WHERE over IS NOT NULL').length;
  const syncRecords = async (): Promise<void> => {
    order.push(`${over()} over`);
    if (isBroken) throw new Error('EIO: i/o error, fdatasync');
  };
  const run = await begin('r', { syncRecords });
  await runs.open('r', OPTIONS, 'p');
  await frontier.offer('r', [offerOf('http://a.test/1'), offerOf('http://a.test/2')]);
  const [first, second] = (await frontier.release(EVERYTHING)).tasks;
  if (first === undefined || second === undefined) throw new Error('two were expected');
  await frontier.settle('r', nameOf(first), { outcome: { kind: 'done' } });
  await run.sync();
  expect([order.at(-1), over()]).toEqual(['1 over', 0]);
  await frontier.settle('r', nameOf(second), { outcome: { kind: 'done' } });
  isBroken = true;
  await run.sync();
  expect([order.at(-1), over()]).toEqual(['1 over', 1]);
  expect(run.failure.reason).toMatchObject({ code: 'ERR_STORAGE', message: expect.stringContaining('EIO') });
  await expect(frontier.offer('r', [offerOf('http://a.test/3')])).rejects.toThrow('EIO');
});

test('a run that ended in the second before a power cut has not ended: the record of its last page may be gone', async () => {
  const place = await setup();
  const { begin, runs, frontier, store, views } = place.open();
  const run = await begin();
  await runs.open('r', OPTIONS, 'p');
  await frontier.offer('r', [offerOf('http://a.test/1')]);
  await runs.seal('r', 'p');
  const [released] = (await frontier.release(EVERYTHING)).tasks;
  if (released === undefined) throw new Error('nothing was released');
  await frontier.settle('r', nameOf(released), { outcome: { kind: 'done' } });
  const left = await crashedFolder(place.folder);
  onTestFinished(() => rm(left, { recursive: true }));
  await run.sync();
  await store.move(({ database }) => database.run("UPDATE crawls SET boot = 'another'"));
  expect((await views.view('r'))?.ended, 'synced').toMatchObject({ state: 'finished', done: 1 });
  const found = openLocalParts({ clock: place.clock, path: join(left, 'trawl.sqlite') });
  const after = new SqliteLocalRuns({ store: found.store });
  expect((await after.view('r'))?.ended, 'the machine went on').toMatchObject({ state: 'finished', done: 1 });
  expect(await after.unfinished()).toEqual([]);
  await found.store.move(({ database }) => database.run("UPDATE crawls SET boot = 'another'"));
  expect((await after.view('r'))?.ended, 'not synced').toBeUndefined();
  expect((await after.unfinished()).map(({ beginning }) => beginning.run)).toEqual(['r']);
  const again = await reopenRun('r', { store: found.store, folder: left, syncRecords: async () => {} });
  expect(again.isSealed).toBe(true);
  expect(await found.runs.progress('r')).toMatchObject({ state: 'running', done: 0, waiting: 1 });
  expect((await found.frontier.release(EVERYTHING)).tasks).toHaveLength(1);
  await again.close();
  found.database.close();
});
