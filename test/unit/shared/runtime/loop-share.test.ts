import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { LoopShare } from '../../../../shared/runtime/loop-share.ts';

/** Keeps the event loop to itself. */
function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

/** Others that always have something to do: two milliseconds in each turn of the loop, until `stop`. */
function startOthers(): { readonly workedMs: () => number; readonly stop: () => void } {
  let [workedMs, isStopped] = [0, false];
  const turn = (): void => {
    const began = performance.now();
    work(2);
    workedMs += performance.now() - began;
    if (!isStopped) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    workedMs: () => workedMs,
    stop: () => {
      isStopped = true;
    },
  };
}

test('others that have work get half as much time as the stretch took', async () => {
  const others = startOthers();
  const share = new LoopShare();
  work(200);
  await share.others();
  others.stop();
  // The loop itself takes some of it.
  expect(others.workedMs()).toBeGreaterThan(70);
});

test('a stretch begins when the one before it, and what the others had after it, is over', async () => {
  const others = startOthers();
  const share = new LoopShare();
  work(200);
  await share.others();
  const before = others.workedMs();
  for (let stretch = 0; stretch < 5; stretch++) await share.others();
  others.stop();
  // The first stretch isn't counted again: that would be five times half of it.
  expect(others.workedMs() - before).toBeLessThan(250);
});

test('a loop that nobody else needs is given back at once', async () => {
  const share = new LoopShare();
  work(200);
  const { active } = performance.eventLoopUtilization();
  await share.others();
  expect(performance.eventLoopUtilization().active - active).toBeLessThan(50);
});
