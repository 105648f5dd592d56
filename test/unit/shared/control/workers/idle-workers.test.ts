import { expect, test } from 'vitest';
import { haveNothingToDo, isWithoutWork } from '../../../../../shared/control/workers/idle-workers.ts';
import type { LiveWorker } from '../../../../../shared/ports/roster.ts';

const IDLE: LiveWorker = {
  ...{ id: 'w', host: 'machine', version: '1', slots: 8, inHand: 0, silentMs: 0 },
  ...{ bound: 'politeness', state: 'consuming', progress: { unsettledMs: 60_000, stuckAfterMs: 60_000 } },
};
const [YOUNG_MS, OLD_MS] = [1_000, 60_000];

test('without workers, nobody has work of a run, however young it is', () => {
  expect(haveNothingToDo([], YOUNG_MS)).toBe(true);
});

test('idle workers may have tasks of a young run that they have not reported yet', () => {
  expect(haveNothingToDo([IDLE], YOUNG_MS)).toBe(false);
  expect(haveNothingToDo([IDLE, IDLE], OLD_MS)).toBe(true);
  expect(haveNothingToDo([IDLE, { ...IDLE, inHand: 1 }], OLD_MS)).toBe(false);
});

test.each<[string, Partial<LiveWorker>]>([
  ['has a page in hand', { inHand: 1 }],
  ['waits for something', { state: 'waiting: broker' }],
  ['is out of memory', { bound: 'memory' }],
])('a worker is not idle that %s', (_, change) => {
  expect(isWithoutWork(IDLE)).toBe(true);
  expect(isWithoutWork({ ...IDLE, ...change })).toBe(false);
});
