import { expect, test } from 'vitest';
import { missingCrawlerLines, stepFailureLines, stepLines } from '../../../../../services/cli/text/step-lines.ts';
import { StepFailures } from '../../../../../services/worker/step-failures.ts';
import type { LiveWorker } from '../../../../../shared/ports/roster.ts';
import type { RunProgress } from '../../../../../shared/ports/runs.ts';

const progress = {
  run: 'r',
  options: { crawler: 'shop' },
  ...{ discovered: 10, done: 6, skipped: 1, failed: 2 },
  steps: { product: { discovered: 7, done: 4, skipped: 0, failed: 2 } },
} as unknown as RunProgress;

test('what is of no other step is of the first', () => {
  expect(stepLines(progress)).toEqual([
    'Steps:',
    '  (first)  2 of 3 done  1 skipped',
    '  product  4 of 7 done             2 failed',
  ]);
  const { steps: _, ...without } = progress;
  expect(stepLines(without)).toEqual([]);
});

test('failures are counted by their place, and few places are named', () => {
  const failures = new StepFailures();
  for (let n = 0; n < 60; n++) failures.note({ place: `a.ts:${n}`, message: `a.ts:${n}: no` });
  failures.note({ place: 'a.ts:7', message: 'a.ts:7: another word' });
  expect(failures.all.length).toBe(50);
  const lines = stepFailureLines(failures.all);
  expect(lines.length).toBe(6);
  expect(lines[0]).toMatchObject({ text: '  2 pages: a.ts:7: no' });
  expect(lines[5]).toBe('  … and 45 other places');
});

// biome-ignore format: a table
test.each<[string, readonly (Readonly<Record<string, string>> | undefined)[], Partial<RunProgress>, number]>([
  ['no worker has it',            [{ page: '1' }, {}],            {},             1],
  ['one has it',                  [{ page: '1' }, { shop: '2' }], {},             0],
  ['there is no worker',          [],                             {},             0],
  ['one does not say what it has', [{ page: '1' }, undefined],    {},             0],
  ['the run has ended',           [{ page: '1' }],                { endedAt: 1 }, 0],
])('a run whose crawler nobody has is named: %s', (_, crawlers, more, expected) => {
  const workers = crawlers.map((each) => (each === undefined ? {} : { crawlers: each })) as LiveWorker[];
  expect(missingCrawlerLines({ ...progress, ...more }, workers).length).toBe(expected);
});
