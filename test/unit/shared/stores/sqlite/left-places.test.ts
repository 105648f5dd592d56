import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { beginRun, reopenRun } from '../../../../../shared/stores/sqlite/local-runs.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { newFolder } from '../../../../support/stores/kept-store.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

const HOST = 'a.test';
const BOTH = { intervalMs: 0, concurrency: 2 };
const OPTIONS = { ...FAST_RUN, dedup: 'run' } as const;

/** A folder whose host has two places, and processes that crawl there. */
async function setup() {
  const folder = await newFolder();
  const clock = new SteppedClock();
  onTestFinished(() => rm(folder, { recursive: true }));
  const open = () => {
    const ports = openLocalParts({ clock, path: join(folder, 'trawl.sqlite') });
    onTestFinished(() => ports.database.close());
    const options = { store: ports.store, folder, syncRecords: async () => {} };
    return {
      ask: async (holder: string) => (await ports.gate.ask(HOST, BOTH, holder)).granted,
      async begin(run: string) {
        const begun = await beginRun({ crawler: 'page', run, options: OPTIONS, seeds: [], flags: {} }, options);
        await ports.runs.open(run, OPTIONS, 'p');
        onTestFinished(() => begun.close());
        return begun;
      },
      async reopen(run: string) {
        const reopened = await reopenRun(run, options);
        onTestFinished(() => reopened.close());
        return reopened;
      },
    };
  };
  return { open };
}

test('a resumed crawl may ask the hosts at which its killed process had open requests', async () => {
  const { open } = await setup();
  const killed = open();
  const run = await killed.begin('r');
  expect([await killed.ask('r:1'), await killed.ask('r:2'), await killed.ask('r:3')]).toEqual([true, true, false]);
  // Closed without freeing its places, as after a kill.
  await run.close();
  const next = open();
  await next.reopen('r');
  expect([await next.ask('r:4'), await next.ask('r:5'), await next.ask('r:6')]).toEqual([true, true, false]);
});

test('so may a new crawl, whatever requests the killed process had open', async () => {
  const { open } = await setup();
  const killed = open();
  const run = await killed.begin('old');
  expect([await killed.ask('robots:http://a.test'), await killed.ask('worker:1')]).toEqual([true, true]);
  await run.close();
  const next = open();
  await next.begin('new');
  expect([await next.ask('new:1'), await next.ask('new:2')]).toEqual([true, true]);
});

test('a crawl at work keeps its places, while those of a killed one are freed', async () => {
  const { open } = await setup();
  const [atWork, killed] = [open(), open()];
  await atWork.begin('work');
  const run = await killed.begin('old');
  expect([await atWork.ask('work:1'), await killed.ask('old:1')]).toEqual([true, true]);
  await run.close();
  const next = open();
  await next.begin('new');
  expect([await next.ask('new:1'), await next.ask('new:2')]).toEqual([true, false]);
});
