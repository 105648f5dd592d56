import { expect, test } from 'vitest';
import { otherRunsLines } from '../../../../../services/cli/text/other-runs.ts';
import type { RunList } from '../../../../../shared/control/run-list.ts';
import { progressOf } from '../../../../support/builders.ts';

/** A list of this many open runs and of ended ones, out of all that the store knows. */
function list(open: number, ended: number, counts: RunList['counts'], damaged: readonly string[] = []): RunList {
  const view = (progress = progressOf()) => ({
    ...{ progress, rate: 0, hosts: [] },
    bottleneck: { name: 'none' as const, sentence: '', etaMs: undefined },
  });
  const views = [
    ...Array.from({ length: open }, () => view()),
    ...Array.from({ length: ended }, () => view(progressOf({ state: 'finished', endedAt: 1 }))),
  ];
  return { views, counts, workers: [], damaged };
}

test('runs that are not listed are counted, and how many of them are open is said', () => {
  const said = (of: RunList) => otherRunsLines(of).map((line) => line.replace(/: .*/, ''));
  expect(said(list(200, 0, { known: 10_000, open: 1_000 }))).toEqual(['… and 9 800 older runs, 800 of them open']);
  expect(said(list(3, 17, { known: 21, open: 3 }))).toEqual(['… and 1 older run']);
  expect(said(list(3, 17, { known: 20, open: 3 }))).toEqual([]);
  expect(said(list(3, 0, { known: 14, open: 4 }, ['run r is damaged'])), 'a damaged run is reported').toEqual([
    '… and 10 older runs',
  ]);
});
