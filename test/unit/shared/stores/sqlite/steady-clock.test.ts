import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded, openLocalStores } from '../../../../../shared/backends/embedded.ts';
import { readSettings } from '../../../../../shared/settings/settings.ts';
import { LocalDatabase } from '../../../../../shared/stores/sqlite/database/database.ts';
import { SteadyClock, withoutStops } from '../../../../../shared/stores/sqlite/steady-clock.ts';
import { DAY_MS, HOUR_MS } from '../../../../../shared/task/durations.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { EVERYTHING, offerOf } from '../../../../support/stores/embedded.ts';
import { newFolder } from '../../../../support/stores/kept-store.ts';

/** A machine whose clock can be set. */
function setup() {
  let machine = 1_000_000_000;
  const clock = new SteadyClock({ now: () => machine, monotonic: () => 0, sleep: async () => {} });
  return { clock, set: (time: number) => (machine = time), machine: () => machine };
}

test('the clock continues from the time of a process whose clock was ahead, until the machine has caught up', () => {
  const { clock, set, machine } = setup();
  const left = machine() + 2 * HOUR_MS;
  clock.continueFrom(left);
  expect(clock.now()).toBeGreaterThanOrEqual(left);
  expect(clock.now()).toBeLessThan(left + HOUR_MS);
  set(machine() + 3 * HOUR_MS);
  expect(clock.now()).toBe(machine());
});

test('monotonic time leaves out the time in which the process was stopped', () => {
  let passed = 0;
  const clock = withoutStops({ now: () => passed, monotonic: () => passed, sleep: async () => {} });
  const begun = clock.monotonic();
  for (; passed < HOUR_MS; passed += 1_000) clock.monotonic();
  expect(clock.monotonic() - begun).toBe(HOUR_MS);
  passed += 8 * HOUR_MS;
  expect(clock.monotonic() - begun).toBe(HOUR_MS);
  passed += 1_000;
  expect(clock.monotonic() - begun).toBe(HOUR_MS + 1_000);
});

test('a past time, or one more than a day ahead, changes nothing', () => {
  const { clock, machine } = setup();
  for (const time of [0, machine() - 1, machine() + DAY_MS + 1]) {
    clock.continueFrom(time);
    expect(clock.now()).toBe(machine());
  }
});

/** The rows left by a crawl whose clock was ahead, with one URL waiting. */
async function leftBehind(aheadMs: number) {
  const outputDir = await newFolder();
  onTestFinished(() => rm(outputDir, { recursive: true }));
  const settings = { ...readSettings({}), outputDir };
  const options = { ...FAST_RUN, dedup: 'run' } as const;
  const begin = { run: 'r', options, crawler: 'page', seeds: [], flags: {} };
  const first = await openEmbedded(settings, { begin, syncRecords: async () => {} });
  await first.runs.open('r', options, 'p');
  await first.frontier.offer('r', [offerOf('http://a.test/')]);
  await first.owned?.close();
  first.close();
  const later = Date.now() + aheadMs;
  const database = new LocalDatabase({ path: join(outputDir, 'trawl.sqlite') });
  await database.call(() => {
    database.run('UPDATE crawls SET touchedAt = ?', later);
    database.run('UPDATE runs SET startedAt = ?1, lookAt = ?1', later);
    database.run('UPDATE runHosts SET readyAt = ?', later);
    database.run('INSERT INTO hosts (host, nextAt, releaseAt) VALUES (?, ?, ?)', 'a.test', later, later);
    database.run('INSERT INTO hosts (host, pausedUntil, reason) VALUES (?, ?, ?)', 'b.test', later, 'http_429');
    database.run('INSERT INTO hosts (host, pausedUntil, byHand) VALUES (?, ?, ?)', 'c.test', later, 1);
  });
  database.close();
  return settings;
}

test.each([
  ['two hours', 2 * HOUR_MS],
  ['240 days', 240 * DAY_MS],
])('a slot that a crawl took by a clock %s ahead holds up no later one', async (_, aheadMs) => {
  const stores = await openLocalStores(await leftBehind(aheadMs));
  onTestFinished(() => stores.close());
  expect(await stores.gate.ask('a.test', { intervalMs: 1_000, concurrency: 0 }, 'r:1')).toMatchObject({
    granted: true,
  });
});

test('tasks left waiting by a clock 240 days ahead are resumed, and paused hosts are asked, except those paused by hand', async () => {
  const settings = await leftBehind(240 * DAY_MS);
  const resumed = await openEmbedded(settings, { resume: 'r', syncRecords: async () => {} });
  onTestFinished(async () => {
    await resumed.owned?.close();
    resumed.close();
  });
  const limits = { intervalMs: 1_000, concurrency: 0 };
  expect(await resumed.gate.ask('b.test', limits, 'r:1')).toMatchObject({ granted: true });
  expect(await resumed.gate.ask('c.test', limits, 'r:1')).toMatchObject({ granted: false });
  const { tasks } = await resumed.frontier.release(EVERYTHING);
  expect(tasks.map(({ task }) => task.url)).toEqual(['http://a.test/']);
  expect(Date.now() - ((await resumed.runs.progress('r'))?.startedAt ?? 0)).toBeLessThan(DAY_MS);
});
