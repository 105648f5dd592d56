import { expect, test } from 'vitest';
import { WorkPace } from '../../../../services/worker/work-pace.ts';

function setup() {
  let now = 1_000_000;
  const pace = new WorkPace({ stuckAfterMs: 60_000, now: () => now });
  const step = (ms: number): void => {
    now += ms;
  };
  return { pace, step };
}

test('a worker that has just started reports no pages per second', () => {
  const { pace, step } = setup();
  step(500);
  expect(pace.read()).toEqual({ unsettledMs: 500, stuckAfterMs: 60_000 });
});

test('pages per second cover the last minute, and deferrals don’t count as pages', () => {
  const { pace, step } = setup();
  for (let beat = 0; beat < 12; beat++) {
    step(5_000);
    for (let page = 0; page < 50; page++) pace.settled('done');
    for (let page = 0; page < 9; page++) pace.settled('defer');
    expect(pace.read().pagesPerSecond).toBeCloseTo(10, 1);
  }
  step(30_000);
  pace.read();
  for (let beat = 0; beat < 12; beat++) {
    step(5_000);
    pace.read();
  }
  expect(pace.read()).toMatchObject({ pagesPerSecond: 0, settledMsAgo: 90_000 });
});

test('the time without a settled task counts from when the worker last had something in hand', () => {
  const { pace, step } = setup();
  pace.took(0);
  pace.settled('done');
  step(600_000);
  pace.took(0);
  step(2_000);
  pace.took(1);
  step(1_000);
  expect(pace.read()).toMatchObject({ settledMsAgo: 603_000, unsettledMs: 3_000 });
  pace.settled('skipped');
  expect(pace.read()).toMatchObject({ settledMsAgo: 0, unsettledMs: 0 });
});
