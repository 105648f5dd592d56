import { expect, test } from 'vitest';
import { isStuck } from '../../../../../shared/control/workers/stuck-workers.ts';
import { pagesPerSecondOfOne, workersWanted } from '../../../../../shared/control/workers/workers-wanted.ts';
import type { WorkerBound } from '../../../../../shared/ports/roster.ts';

/** So many hosts at one pace. */
function hosts(
  count: number,
  intervalMs: number,
  extra: { responseMs?: number; pausedMs?: number; from?: number } = {},
) {
  const { from = 0, pausedMs = 0, ...rest } = extra;
  return Array.from({ length: count }, (_, i) => ({ host: `h${from + i}.test`, intervalMs, pausedMs, ...rest }));
}

function worker(bound: WorkerBound, pagesPerSecond?: number, busyShare?: number) {
  const pace = pagesPerSecond === undefined ? {} : { pagesPerSecond, busyShare: busyShare ?? 1 };
  return { bound, progress: { unsettledMs: 0, stuckAfterMs: 60_000, ...pace } };
}

// biome-ignore format: a table
test.each([
  ['nothing waits',                             [],                                               [],                   0],
  ['one host at 60/min, nobody has worked yet', hosts(1, 1_000),                                  [],                   1],
  ['20 hosts at 60/min: one worker’s work',     hosts(20, 1_000),                                 [],                   1],
  ['21 hosts at 60/min',                        hosts(21, 1_000),                                 [],                   2],
  ['2,000 hosts at 60/min',                     hosts(2_000, 1_000),                              [],                 100],
  ['the same, and a worker does 400/s',         hosts(2_000, 1_000),                              [worker('cpu', 400)], 5],
  ['the same, and hosts hold back one that is a quarter busy with 100/s',
                                                hosts(2_000, 1_000),            [worker('politeness', 100, 0.25)],      5],
  ['two that did 300 and 500',                  hosts(2_000, 1_000), [worker('cpu', 300), worker('slots', 500)],        5],
  ['one that has no network says nothing',      hosts(20, 1_000),                                 [worker('network', 400)], 1],
  ['one that does next to nothing neither',     hosts(40, 1_000),                                 [worker('politeness', 0.2, 0.01)], 2],
  ['one that has shown nothing yet',            hosts(40, 1_000),                                 [worker('cpu')],      2],
  ['all hosts are paused',                      hosts(500, 1_000, { pausedMs: 5_000 }),           [],                   0],
  ['half of them are',              [...hosts(100, 1_000, { pausedMs: 1 }), ...hosts(100, 1_000, { from: 100 })], [], 5],
  ['no rate: two at once, each answer takes 100 ms', hosts(3, 0, { responseMs: 100 }),            [],                   3],
  ['no rate, and it has never answered',        hosts(10, 0),                                     [],                   1],
  ['a host of two runs moves at the slower rate', [...hosts(40, 500), ...hosts(40, 2_000)],       [],                   1],
  ['a host of two runs, paused in one of them', [...hosts(40, 500), ...hosts(40, 500, { pausedMs: 9 })], [],            0],
])('workers wanted: %s', (_, waiting, workers, wanted) => {
  expect(workersWanted({ unread: [], hosts: waiting, workers, hostConcurrency: 2 })).toBe(wanted);
});

test('hosts without any limit keep one worker busy each', () => {
  expect(workersWanted({ unread: [], hosts: hosts(3, 0), workers: [worker('cpu', 400)], hostConcurrency: 0 })).toBe(3);
});

test('a worker that nothing has shown is taken to do 20 pages a second', () => {
  expect(pagesPerSecondOfOne([])).toBe(20);
});

// biome-ignore format: a table
test.each([
  ['nothing in hand',                          0, 900_000,      0, false],
  ['settles',                                  9,     100,      0, false],
  ['in time, just',                            9,  60_000,      0, false],
  ['not any more',                             9,  60_001,      0, true],
  ['its beat is old',                          9,  55_000,  6_000, true],
])('stuck: %s', (_, inHand, unsettledMs, silentMs, stuck) => {
  expect(isStuck({ inHand, silentMs, progress: { unsettledMs, stuckAfterMs: 60_000 } })).toBe(stuck);
});

test('a worker of an earlier version says nothing, and is not taken to be stuck', () => {
  expect(isStuck({ inHand: 9, silentMs: 29_000 })).toBe(false);
});
