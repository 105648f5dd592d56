import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { nameOf } from '../../../../../shared/ports/frontier.ts';
import { LineFile } from '../../../../../shared/runtime/line-file.ts';
import { Credits } from '../../../../../shared/stores/journal/credits.ts';
import { JournaledFrontier } from '../../../../../shared/stores/journal/frontier.ts';
import { Journal } from '../../../../../shared/stores/journal/journal.ts';
import { FileLock } from '../../../../../shared/stores/journal/lock.ts';
import { JournaledRuns } from '../../../../../shared/stores/journal/runs.ts';
import { MemoryStore } from '../../../../../shared/stores/memory/store.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { newFolder } from '../../../../support/journaled-store.ts';
import { POLICY } from '../../../../support/policy.ts';
import { SteppedClock } from '../../../../support/stepped-clock.ts';

const PAGE = {
  url: 'http://a.test/1',
  mark: 'http://a.test/1',
  host: 'a.test',
  step: '',
  depth: 0,
  queue: 'normal',
} as const;
const REFUSED = "/dev/full can't be written: ENOSPC";

async function setup(syncFirst = async (): Promise<void> => {}) {
  const folder = await newFolder();
  const journal = new Journal({
    file: new LineFile('/dev/full'),
    lock: FileLock.take(join(folder, 'lock')) as FileLock,
    beginning: { run: 'r', options: FAST_RUN, seeds: [], flags: {} },
    begunAt: 0,
    isSealed: false,
    credits: new Credits(),
    tasks: 0,
    sessions: 1,
    workedMs: 0,
    syncFirst,
  });
  onTestFinished(async () => {
    await journal.close();
    await rm(folder, { recursive: true });
  });
  const parts = { store: new MemoryStore(), clock: new SteppedClock(), journals: new Map([['r', journal]]) };
  return { journal, runs: new JournaledRuns(parts), frontier: new JournaledFrontier({ ...parts, policy: POLICY }) };
}

test('a disk that is full: nothing is acknowledged, nothing more is released, and the file is named', async () => {
  const { frontier, runs, journal } = await setup();
  await expect(runs.open('r', FAST_RUN, 'p')).rejects.toThrow(REFUSED);
  expect(journal.failure.reason).toMatchObject({ code: 'ERR_STORAGE' });
  await expect(frontier.offer('r', [PAGE])).rejects.toThrow(REFUSED);
  expect((await frontier.release({ limit: 9, window: 9, unpaced: false })).tasks).toEqual([]);
  await expect(runs.seal('r', 'p')).rejects.toThrow(REFUSED);
});

test('a settle that could not be written is not acknowledged', async () => {
  const { frontier, runs } = await setup();
  const [opening, offering] = [runs.open('r', FAST_RUN, 'p'), frontier.offer('r', [PAGE])];
  // The frontier moves at once; that it could not be written is known only later in this turn.
  const [released] = (await frontier.release({ limit: 9, window: 9, unpaced: false })).tasks;
  if (released === undefined) throw new Error('nothing was released');
  const settling = frontier.settle('r', nameOf(released), { outcome: { kind: 'done' } });
  for (const promise of [opening, offering, settling]) await expect(promise).rejects.toThrow(REFUSED);
});

test('records that can not be brought to the disk end it, too', async () => {
  const { journal } = await setup(async () => {
    throw new Error('EIO: i/o error, fdatasync');
  });
  await expect(journal.opened('p')).rejects.toThrow(REFUSED);
  expect(journal.failure.aborted).toBe(true);
});
