import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { LETTER_TTL_MS } from '../../../../../shared/ports/dead-letter.ts';
import { nameOf, type ReleasedTask } from '../../../../../shared/ports/frontier/frontier.ts';
import { elapsedMs, type RunOptions } from '../../../../../shared/ports/runs.ts';
import { beginRun, reopenRun, SqliteLocalRuns } from '../../../../../shared/stores/sqlite/local-runs.ts';
import type { OwnedLocalRun } from '../../../../../shared/stores/sqlite/owned-run.ts';
import { idOf } from '../../../../../shared/task/task/task.ts';
import { markOf } from '../../../../../shared/task/url/fingerprint.ts';
import { canonicalOf } from '../../../../../shared/task/url/url.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { POLICY } from '../../../../support/policy.ts';
import { EVERYTHING, offerOf } from '../../../../support/stores/embedded.ts';
import { newFolder } from '../../../../support/stores/kept-store.ts';
import { letterOf } from '../../../../support/stores/letters.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

const OPTIONS = { ...FAST_RUN, dedup: 'run' } as const;
const URL_A = 'http://a.test/a';

/** A run in a folder, and a page of it in flight whose letter is stored: a moment before it has failed. */
async function setup(options: RunOptions = OPTIONS) {
  const folder = await newFolder();
  onTestFinished(() => rm(folder, { recursive: true }));
  const clock = new SteppedClock();
  const path = join(folder, 'trawl.sqlite');
  const ports = openLocalParts({ clock, path });
  const parts = { store: ports.store, folder, syncRecords: async () => {} };
  const flags = { RATE_LIMIT: 'none' };
  let owned: OwnedLocalRun = await beginRun({ run: 'r', options, crawler: 'page', seeds: [], flags }, parts);
  onTestFinished(async () => {
    await owned.close();
    ports.database.close();
  });
  const { runs, frontier, letters } = ports;
  await runs.open('r', options, 'p');
  await frontier.offer('r', [offerOf(URL_A)]);
  await runs.seal('r', 'p');
  const release = async (): Promise<ReleasedTask> => {
    const [released] = (await frontier.release(EVERYTHING)).tasks;
    if (released === undefined) throw new Error('nothing was released');
    return released;
  };
  const released = await release();
  await letters.keep([letterOf(URL_A, { run: 'r' })]);
  return {
    ...{ ...ports, folder, path, release, released },
    fail: async (task = released) =>
      await frontier.settle('r', nameOf(task), { outcome: { kind: 'failed', reason: 'timeout' } }),
    replay: async (run = 'r') =>
      await letters.replay(run, [
        {
          id: idOf({ run, mark: markOf(canonicalOf(URL_A)) }),
          reason: 'timeout',
          offer: { ...offerOf(URL_A) } as never,
        },
      ]),
    end: async () => await owned.end(),
    /** Does as another process would once this one is gone. */
    reopen: async () => {
      await owned.close();
      owned = await reopenRun('r', parts);
    },
    view: async () => await new SqliteLocalRuns({ store: ports.store }).view('r'),
  };
}

test('a replayed task is no longer counted at the place where it failed, until it fails there again', async () => {
  const { runs, frontier, released, replay, release } = await setup();
  const place = 'shop.ts:7, step product';
  const failAt = async (task: ReleasedTask, error: string): Promise<unknown> =>
    await frontier.settle('r', nameOf(task), {
      outcome: { kind: 'failed', reason: 'step' },
      attempt: { at: 1, worker: 'w', reason: 'step', place, error },
    });
  await failAt(released, 'first');
  await replay();
  expect(await runs.progress('r')).not.toHaveProperty('stepFailures');
  await failAt(await release(), 'second');
  expect((await runs.progress('r'))?.stepFailures).toEqual([{ place, pages: 1, error: 'second' }]);
});

test('the duration of a run with replayed letters leaves out the time since it had ended', async () => {
  const { runs, fail, replay, reopen, release, clock } = await setup();
  clock.step(5_000);
  await fail();
  clock.step(3_600_000);
  await replay();
  await reopen();
  clock.step(5_000);
  await fail(await release());
  const progress = await runs.progress('r');
  expect(progress === undefined ? undefined : elapsedMs(progress)).toBe(10_000);
});

test('a replayed task waits again as its letter is deleted, in one transaction; a second replay finds it known', async () => {
  const { runs, letters, fail, replay, release, frontier } = await setup();
  await fail();
  expect(await runs.progress('r')).toMatchObject({ state: 'finished', failed: 1, reasons: { failed: { timeout: 1 } } });
  expect(await replay()).toEqual({ fates: ['taken'] });
  expect(await letters.browse(9)).toEqual([]);
  expect(await runs.progress('r')).toMatchObject({
    ...{ state: 'running', sealed: true, discovered: 1, waiting: 1, failed: 0 },
    reasons: { failed: {} },
  });
  expect(await replay()).toEqual({ fates: ['known'] });
  const again = await release();
  expect(again.state.attempts).toBe(0);
  await frontier.settle('r', nameOf(again), { outcome: { kind: 'done' } });
  expect(await runs.progress('r')).toMatchObject({ state: 'finished', discovered: 1, done: 1, failed: 0 });
  expect(await replay()).toEqual({ fates: ['known'] });
});

test('a host that was given up is tried again', async () => {
  const { frontier, clock, released, replay, release, fail } = await setup();
  const retry = { outcome: { kind: 'retry', inMs: 0, reason: 'timeout' }, hostAnswered: false } as const;
  await frontier.settle('r', nameOf(released), retry);
  clock.step(POLICY.giveUpMs - 1_000);
  await frontier.settle('r', nameOf(await release()), retry);
  clock.step(1_000);
  const down = await release();
  expect(down.verdict).toBe('host_down');
  await fail(down);
  expect(await replay()).toEqual({ fates: ['taken'] });
  expect((await release()).verdict).toBe('go');
});

test('a letter whose task is in flight is no reason to begin another one', async () => {
  const { runs, replay, letters } = await setup();
  expect(await replay()).toEqual({ fates: ['inFlight'] });
  expect((await letters.browse(9)).length).toBe(1);
  expect(await runs.progress('r')).toMatchObject({ discovered: 1, inFlight: 1, waiting: 0 });
});

test('a task in flight when its process died waits again, and has no letter', async () => {
  const { runs, letters, reopen } = await setup();
  await reopen();
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, failed: 0 });
  expect(await letters.browse(9)).toEqual([]);
});

test('a task that failed twice has one letter, the newer', async () => {
  const { letters } = await setup();
  await letters.keep([letterOf('http://a.test/other', { run: 'r' }), letterOf(URL_A, { run: 'r', reason: 'dns' })]);
  const reasons = (await letters.browse(9)).map(({ body }) => JSON.parse(new TextDecoder().decode(body)).reason);
  expect(reasons).toEqual(['timeout', 'dns']);
});

test("letters expire, and the last one takes its run's flags with it", async () => {
  const { letters, clock, fail, end, view, database } = await setup();
  await fail();
  await end();
  expect((await view())?.beginning.flags).toEqual({ RATE_LIMIT: 'none' });
  clock.step(LETTER_TTL_MS - 1);
  expect([(await letters.browse(9)).length, await letters.count()]).toEqual([1, 1]);
  clock.step(1);
  expect([(await letters.browse(9)).length, await letters.count()]).toEqual([0, 0]);
  await end();
  expect(await database.call(() => database.all('SELECT n FROM letters'))).toEqual([]);
  expect((await view())?.beginning.flags).toEqual({});
});

test('a replay into a cancelled or unknown run is refused', async () => {
  const { runs, replay, fail } = await setup();
  await fail();
  expect(await replay('other')).toEqual({ refused: 'unknown' });
  await runs.open('r', OPTIONS, 'p');
  await runs.cancel('r');
  expect(await replay()).toEqual({ refused: 'cancelled' });
});

test('a page that another run has taken by shared marks is known', async () => {
  const ever = { ...FAST_RUN, dedup: 'ever' } as const;
  const { runs, frontier, replay, fail } = await setup(ever);
  await fail();
  await runs.open('s', ever, 'p');
  expect(await frontier.offer('s', [offerOf(URL_A)])).toMatchObject({ accepted: 1 });
  expect(await replay()).toEqual({ fates: ['known'] });
  expect(await runs.progress('r')).toMatchObject({ failed: 1, waiting: 0 });
});

test('a database of the first version is brought to this one', async () => {
  const { path, database, letters, fail } = await setup();
  await fail();
  expect(await letters.count()).toBe(1);
  const older = new DatabaseSync(path);
  const later = {
    hosts: ['handLimit', 'places'],
    runs: [
      ...['leftOutDepth', 'leftOutMaxPages', 'leftOutLimit', 'leftOutCondition', 'giveUpMs', 'hostsDown', 'namedDown'],
      ...['joins', 'joinsDue', 'joinsLayer', 'openGroups', 'anew'],
    ],
    tasks: ['stamp', 'links'],
    runHosts: ['hasAnswered', 'troubleKind', 'troubleReason', 'silentSince', 'isDown'],
  };
  for (const [table, columns] of Object.entries(later))
    for (const column of columns) older.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
  older.exec(
    `ALTER TABLE runs RENAME COLUMN leftOutScope TO leftOut; DROP TABLE letters; DROP TABLE steps; DROP TABLE stepFailures;
     DROP TABLE groups; DROP TABLE groupInputs; DROP TABLE endedGroups; DROP TABLE lastWriter; DROP TABLE pagesSwept;
     CREATE TABLE places (host TEXT, holder TEXT, till INTEGER); PRAGMA user_version = 1`,
  );
  older.close();
  const { letters: after, runs, database: opened } = openLocalParts({ clock: new SteppedClock(), path });
  onTestFinished(() => opened.close());
  expect([await after.count(), (await runs.progress('r'))?.failed]).toEqual([0, 1]);
  expect(database.path).toBe(opened.path);
});
