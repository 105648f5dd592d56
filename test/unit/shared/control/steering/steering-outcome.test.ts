import { expect, test } from 'vitest';
import { type SteerVerb, steeringOutcome } from '../../../../../shared/control/steering/steering-outcome.ts';
import type { RunProgress, RunState } from '../../../../../shared/ports/runs.ts';
import { progressOf } from '../../../../support/builders.ts';

const OPEN: Partial<RunProgress> = { sealed: false, producers: { open: 1, lost: 1, silent: [] } };
const NONE_LEFT = { waiting: 0, inFlight: 0 };
const STOPPED = { stoppedAt: 1 };
const OVER = 'Its URLs can be taken again: trawl produce … starts a new run.';

// biome-ignore format: a table
test.each<[SteerVerb, RunState, RunState, Partial<RunProgress>, Partial<RunProgress>, 0 | 1, string]>([
  ['pause',  'running',   'paused',    {}, {}, 0, 'Run r: running → paused. 5 wait; 2 in flight, to be finished or put back. Resume with: trawl resume r'],
  ['pause',  'paused',    'paused',    {}, {}, 0, 'Run r was paused already: nothing changed.'],
  ['pause',  'finished',  'finished',  {}, {}, 0, 'Run r is finished: there is nothing to pause.'],
  ['pause',  'cancelled', 'cancelled', {}, {}, 0, 'Run r is cancelled: there is nothing to pause.'],
  ['resume', 'paused',    'running',   {}, {}, 0, 'Run r: paused → running. 5 wait.'],
  ['resume', 'running',   'running',   {}, {}, 0, 'Run r was running already: nothing changed.'],
  ['resume', 'paused',    'running',   {}, STOPPED, 0, 'Run r: paused → running. 5 wait. No process is crawling it: trawl crawl --resume r'],
  ['resume', 'running',   'running',   {}, STOPPED, 0, 'Run r is not paused: it has stopped. No process is crawling it: trawl crawl --resume r'],
  ['pause',  'paused',    'paused',    {}, STOPPED, 0, 'Run r was paused already: nothing changed.'],
  ['resume', 'finished',  'finished',  {}, {}, 0, 'Run r is finished: there is nothing to resume.'],
  ['resume', 'cancelled', 'cancelled', {}, {}, 1, `Run r is cancelled and can't be resumed. ${OVER}`],
  ['cancel', 'running',   'cancelled', {}, { cancelled: 5 }, 0, 'Run r: running → cancelled. 5 that waited were dropped. 2 in flight, to be finished or dropped.'],
  ['cancel', 'paused',    'cancelled', {}, { cancelled: 5, ...NONE_LEFT }, 0, 'Run r: paused → cancelled. 5 that waited were dropped. Nothing is in flight.'],
  ['cancel', 'cancelled', 'cancelled', {}, NONE_LEFT, 0, 'Run r was cancelled already. Nothing is in flight.'],
  ['cancel', 'finished',  'finished',  {}, {}, 0, 'Run r is finished: there is nothing to cancel.'],
  ['seal',   'running',   'running',   OPEN, {}, 0, 'Run r is sealed, no more seeds will come (producers: 1 lost, 1 still at work, which nobody waits for any more): running → running, 7 left.'],
  ['seal',   'running',   'finished',  { sealed: false }, NONE_LEFT, 0, 'Run r is sealed, no more seeds will come: running → finished, nothing was left.'],
  ['seal',   'paused',    'paused',    {}, {}, 0, 'Run r was sealed already: paused, 7 left.'],
  ['seal',   'cancelled', 'cancelled', {}, {}, 0, 'Run r is cancelled: there is nothing to seal.'],
])('%s: a run that was %s is %s', (verb, was, is, before, after, code, sentence) => {
  const left = { waiting: 5, inFlight: 2 };
  const outcome = steeringOutcome(verb, { was, is }, progressOf({ ...left, ...before }), progressOf({ ...left, ...after }));
  expect(outcome).toEqual({ code, sentence });
});
