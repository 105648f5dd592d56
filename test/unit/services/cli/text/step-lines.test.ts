import { expect, test } from 'vitest';
import { missingCrawlerLines, stepFailureLines, stepLines } from '../../../../../services/cli/text/step-lines.ts';
import { workerLines } from '../../../../../services/cli/text/worker-lines.ts';
import type { LiveWorker } from '../../../../../shared/ports/roster.ts';
import type { RunProgress } from '../../../../../shared/ports/runs.ts';

const progress = {
  run: 'r',
  options: { crawler: 'shop' },
  ...{ discovered: 10, done: 6, skipped: 1, failed: 2 },
  steps: { product: { discovered: 7, done: 4, skipped: 0, failed: 2 } },
} as unknown as RunProgress;

test('pages of no named step are counted for the first step', () => {
  expect(stepLines(progress)).toEqual([
    'Steps:',
    '  (first)  2 of 3 done  1 skipped',
    '  product  4 of 7 done             2 failed',
  ]);
  const ofFiles = { ...progress, ...{ discovered: 7, done: 4, skipped: 0, failed: 2 } };
  expect(stepLines(ofFiles)).toEqual(['Steps:', '  product  4 of 7 done    2 failed']);
  const { steps: _, ...without } = progress;
  expect(stepLines(without)).toEqual([]);
});

test('only the five most frequent places of step failures are listed', () => {
  const stepFailures = Array.from({ length: 50 }, (_, n) => ({
    place: `a.ts:${n}`,
    pages: 50 - n,
    error: `a.ts:${n}: no`,
  }));
  const lines = stepFailureLines({ stepFailures });
  expect(lines.length).toBe(6);
  expect(lines[0]).toMatchObject({ text: '  50 pages: a.ts:0: no' });
  expect(lines[5]).toBe('  … and 45 other places');
  expect(stepFailureLines({})).toEqual([]);
});

// biome-ignore format: a table
test.each<[string, readonly (Readonly<Record<string, string>> | undefined)[], Partial<RunProgress>, number]>([
  ['no worker has it',            [{ page: '1' }, {}],            {},             1],
  ['one has it',                  [{ page: '1' }, { shop: '2' }], {},             0],
  ['there is no worker',          [],                             {},             0],
  ['one does not list its crawlers', [{ page: '1' }, undefined],    {},             0],
  ['the run has ended',           [{ page: '1' }],                { endedAt: 1 }, 0],
])('a run is reported only if no worker has its crawler: %s', (_, crawlers, more, expected) => {
  const workers = crawlers.map((each) => (each === undefined ? {} : { crawlers: each })) as LiveWorker[];
  expect(missingCrawlerLines({ ...progress, ...more }, workers).length).toBe(expected);
});

test('workers that lack secrets of a crawler are reported, and the secrets its runs wait for', () => {
  const lacking = { shop: ['USER', 'PASSWORD'] };
  const worker: LiveWorker = {
    ...{ id: 'w', host: 'h', version: '1', slots: 1, bound: 'slots', inHand: 0, state: 'consuming', silentMs: 0 },
    crawlers: { page: '1' },
  };
  const workers = [{ ...worker, lacking }, worker, { ...worker, lacking }];
  expect(missingCrawlerLines(progress, workers)).toMatchObject([
    { text: 'No worker has the secrets of crawler shop: run r waits for one with PASSWORD, USER in its environment' },
  ]);
  expect(workerLines(workers).at(-1)).toEqual({
    text: '2 workers lack USER, PASSWORD, for crawler shop: its tasks are left to others',
    mark: 'warning',
  });
});
