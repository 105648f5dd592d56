import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded, openLocalStores } from '../../../../../shared/backends/embedded.ts';
import { readSettings } from '../../../../../shared/settings/settings.ts';
import { LocalDatabase } from '../../../../../shared/stores/sqlite/database/database.ts';
import { SteadyClock } from '../../../../../shared/stores/sqlite/steady-clock.ts';
import { DAY_MS, HOUR_MS } from '../../../../../shared/task/durations.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { newFolder } from '../../../../support/stores/kept-store.ts';

/** A machine whose clock is set. */
function setup() {
  let machine = 1_000_000_000;
  const clock = new SteadyClock({ now: () => machine, monotonic: () => 0, sleep: async () => {} });
  return { clock, set: (time: number) => (machine = time), machine: () => machine };
}

test('it continues from the time of a process whose clock was ahead, until the machine has caught up', () => {
  const { clock, set, machine } = setup();
  const left = machine() + 2 * HOUR_MS;
  clock.continueFrom(left);
  expect(clock.now()).toBeGreaterThanOrEqual(left);
  expect(clock.now()).toBeLessThan(left + HOUR_MS);
  set(machine() + 3 * HOUR_MS);
  expect(clock.now()).toBe(machine());
});

test('a time that is past, or more than a day ahead, changes nothing', () => {
  const { clock, machine } = setup();
  for (const time of [0, machine() - 1, machine() + DAY_MS + 1]) {
    clock.continueFrom(time);
    expect(clock.now()).toBe(machine());
  }
});

test('a slot at a host that a crawl took by a clock two hours ahead holds up no later one', async () => {
  const outputDir = await newFolder();
  onTestFinished(() => rm(outputDir, { recursive: true }));
  const settings = { ...readSettings({}), outputDir };
  const options = { ...FAST_RUN, dedup: 'run' } as const;
  const begin = { run: 'r', options, crawler: 'page', seeds: [], flags: {} };
  const first = await openEmbedded(settings, { begin, syncRecords: async () => {} });
  await first.owned?.close();
  first.close();
  const later = Date.now() + 2 * HOUR_MS;
  const database = new LocalDatabase({ path: join(outputDir, 'trawl.sqlite') });
  await database.call(() => {
    database.run('UPDATE crawls SET touchedAt = ?', later);
    database.run('INSERT INTO hosts (host, nextAt, releaseAt) VALUES (?, ?, ?)', 'a.test', later, later);
  });
  database.close();
  const stores = await openLocalStores(settings);
  onTestFinished(() => stores.close());
  expect(await stores.gate.ask('a.test', { intervalMs: 1_000, concurrency: 0 }, 'r:1')).toMatchObject({
    granted: true,
  });
});
