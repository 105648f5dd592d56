import { expect, test } from 'vitest';
import { unableWorkers } from '../../../../../shared/control/workers/unable-workers.ts';
import type { LiveWorker } from '../../../../../shared/ports/roster.ts';

const CASES: readonly (readonly [states: readonly LiveWorker['state'][], said: readonly string[]])[] = [
  [['consuming', 'stopping', 'waiting: to begin', 'waiting: broker'], []],
  [['consuming', 'waiting: disk is full'], ['1 worker consumes nothing: w1: disk is full']],
  [
    ['waiting: disk is full', 'waiting: Postgres is away', 'waiting: disk is full'],
    ['2 workers consume nothing: w0 and 1 more: disk is full', '1 worker consumes nothing: w1: Postgres is away'],
  ],
];

test.each(CASES)('workers that are %j', (states, said) => {
  expect(unableWorkers(states.map((state, n) => ({ id: `w${n}`, state })))).toEqual(said);
});
