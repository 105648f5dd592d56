import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { LocalDatabase } from '../../../../../shared/stores/sqlite/database/database.ts';
import { FileLock } from '../../../../../shared/stores/sqlite/database/lock.ts';
import { SCHEMA_STEPS, SCHEMA_VERSION } from '../../../../../shared/stores/sqlite/database/schema.ts';
import { IN_MEMORY } from '../../../../../shared/stores/sqlite/database/sqlite-file.ts';
import { newFolder } from '../../../../support/stores/kept-store.ts';

async function setup() {
  const folder = await newFolder();
  onTestFinished(() => rm(folder, { recursive: true }));
  return { folder, path: join(folder, 'trawl.sqlite') };
}

function noteIn(database: LocalDatabase, mark: string): void {
  database.run("INSERT INTO attempts (mark, at, note) VALUES (?, 0, '{}')", mark);
}

function notesIn(database: LocalDatabase): string[] {
  return database.all<{ mark: string }>('SELECT mark FROM attempts ORDER BY id').map(({ mark }) => mark);
}

test('a folder whose name looks like the start of a URI contains the database and the lock', async () => {
  const folder = await mkdtemp('file:trawl-');
  onTestFinished(() => rm(folder, { recursive: true }));
  const lock = FileLock.take(join(folder, 'crawl.lock'));
  const database = new LocalDatabase({ path: join(folder, 'trawl.sqlite') });
  await database.call(() => noteIn(database, 'a'));
  expect(notesIn(database)).toEqual(['a']);
  database.close();
  lock?.release();
  expect(await readdir(folder)).toEqual(['crawl.lock', 'trawl.sqlite']);
});

test('a damaged file is reported as damaged, with what to do', async () => {
  const { path } = await setup();
  await writeFile(path, 'What a broken disk, or another program, has left here.'.repeat(20));
  const message = expect.stringMatching(
    /trawl\.sqlite is damaged: file is not a database\. .*move it away.* crawl again$/,
  );
  expect(() => new LocalDatabase({ path })).toThrow(expect.objectContaining({ code: 'ERR_STORAGE', message }));
});

test('calls are made together; one that throws undoes only its own changes', async () => {
  const { path } = await setup();
  const database = new LocalDatabase({ path, gatherMs: 5 });
  onTestFinished(() => database.close());
  const calls = ['a', 'b', 'c'].map((mark) =>
    database.call(() => {
      noteIn(database, mark);
      if (mark === 'b') throw new RangeError('no b');
      return mark;
    }),
  );
  expect(await Promise.allSettled(calls)).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: new RangeError('no b') },
    { status: 'fulfilled', value: 'c' },
  ]);
  expect(notesIn(database)).toEqual(['a', 'c']);
  expect(database.failure.aborted).toBe(false);
});

test('on a full disk, all calls of the transaction fail, none of their changes is kept, and no further call is made', async () => {
  const { path } = await setup();
  const database = new LocalDatabase({ path, gatherMs: 5 });
  onTestFinished(() => database.close());
  await database.call(() => database.get('PRAGMA max_page_count = 60'));
  const small = database.call(() => noteIn(database, 'small'));
  const large = database.call(() => noteIn(database, 'x'.repeat(500_000)));
  const reason = { code: 'ERR_STORAGE', message: expect.stringMatching(/trawl\.sqlite can't be written: .* full/) };
  for (const call of [small, large]) await expect(call).rejects.toMatchObject(reason);
  expect(database.failure.reason).toMatchObject(reason);
  await expect(database.call(() => noteIn(database, 'late'))).rejects.toMatchObject(reason);
  expect(notesIn(database)).toEqual([]);
});

test('while another process writes, calls wait, and the event loop does not', async () => {
  const { path } = await setup();
  const database = new LocalDatabase({ path });
  onTestFinished(() => database.close());
  const code = `
    const database = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(path)});
    database.exec('BEGIN IMMEDIATE');
    console.log('writing');
    setTimeout(() => database.exec('COMMIT'), 300);`;
  const other = spawn(process.execPath, ['--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(other.stdout, 'data');
  let turns = 0;
  const turning = setInterval(() => turns++, 5);
  await database.call(() => noteIn(database, 'a'));
  clearInterval(turning);
  expect(turns, 'turns of the event loop meanwhile').toBeGreaterThan(10);
  expect(notesIn(database)).toEqual(['a']);
  await once(other, 'exit');
});

test('a database from before left-out links were counted by reason keeps its counts', async () => {
  const { path } = await setup();
  const older = new DatabaseSync(path);
  older.exec(`${SCHEMA_STEPS.slice(0, 2).join('')} PRAGMA user_version = 2;
    INSERT INTO runs (id, incarnation, options, startedAt, leftOut) VALUES ('r', 'i', '{}', 0, 7)`);
  older.close();
  const database = new LocalDatabase({ path });
  onTestFinished(() => database.close());
  const columns = 'leftOutScope, leftOutDepth, leftOutMaxPages, leftOutLimit';
  expect({ ...database.get<Record<string, number>>(`SELECT ${columns} FROM runs`) }).toEqual({
    leftOutScope: 7,
    leftOutDepth: 0,
    leftOutMaxPages: 0,
    leftOutLimit: 0,
  });
});

test('a database of a newer program is refused with a clear message, and left unchanged', async () => {
  const { path } = await setup();
  const newer = new DatabaseSync(path);
  newer.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  newer.close();
  expect(() => new LocalDatabase({ path })).toThrow(
    `${path} has version ${SCHEMA_VERSION + 1}, and this program supports none newer than ${SCHEMA_VERSION}`,
  );
});

test('a file that is not a database, or whose folder is gone, is named', async () => {
  const { folder } = await setup();
  expect(() => new LocalDatabase({ path: join(folder, 'gone', 'trawl.sqlite') })).toThrow(
    /gone\/trawl\.sqlite can't be opened: ENOENT: .*OUTPUT_DIR/,
  );
  expect(() => new LocalDatabase({ path: '/proc/self/status' })).toThrow("/proc/self/status can't be opened");
});

test('a path that is too long for SQLite is named as such, also behind a symbolic link', async () => {
  const { folder } = await setup();
  const real = join(realpathSync(folder), ...['a', 'b', 'c'].map((letter) => letter.repeat(170)));
  mkdirSync(real, { recursive: true });
  symlinkSync(real, join(folder, 'short'));
  const name = 'trawl.sqlite';
  const said = `its full path has ${join(real, name).length} bytes, and SQLite opens none with more than 504: choose a shorter one`;
  for (const path of [join(real, name), join(folder, 'short', name)])
    expect(() => new LocalDatabase({ path })).toThrow(`${path} can't be opened: ${said} (OUTPUT_DIR)`);
  const parent = join(realpathSync(folder), 'd'.repeat(200), 'd'.repeat(100));
  mkdirSync(parent, { recursive: true });
  const longest = join(parent, 'e'.repeat(503 - parent.length));
  new LocalDatabase({ path: longest }).close();
});

test('in memory, a call is made at once', () => {
  const database = new LocalDatabase({ path: IN_MEMORY });
  onTestFinished(() => database.close());
  void database.call(() => noteIn(database, 'a'));
  expect(notesIn(database)).toEqual(['a']);
});

test('a file that is mostly empty is rewritten, unless it has much content or another connection writes', async () => {
  const { path } = await setup();
  const database = new LocalDatabase({ path });
  onTestFinished(() => database.close());
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  const pages = () => Number(other.prepare('PRAGMA page_count').get()?.page_count);
  const note = '.'.repeat(1_000);
  await database.call(() => {
    noteIn(database, 'kept');
    for (let n = 0; n < 80_000; n++)
      database.run("INSERT INTO attempts (mark, at, note) VALUES ('gone', ?, ?)", n, note);
  });
  await database.call(() => database.run('DELETE FROM attempts WHERE at > 40000'));
  const before = pages();
  database.shrink();
  expect(pages()).toBe(before);
  await database.call(() => database.run("DELETE FROM attempts WHERE mark = 'gone'"));
  other.exec('BEGIN IMMEDIATE');
  database.shrink();
  other.exec('ROLLBACK');
  expect(pages()).toBe(before);
  database.shrink();
  expect(pages()).toBeLessThan(100);
  expect(await database.call(() => notesIn(database))).toEqual(['kept']);
});
