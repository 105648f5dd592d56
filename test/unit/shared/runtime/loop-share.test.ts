import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LoopShare } from '../../../../shared/runtime/loop-share.ts';

/** The event loop’s utilisation since its start, in milliseconds. Each reading is one turn later. */
const loop = { active: 0, idle: 0 };
/** Duration of a turn of other work, and of the idle time after it. */
let turn = { active: 2, idle: 0 };

/** The long job uses the loop alone. */
function work(ms: number): void {
  loop.active += ms;
}

/** Ends a stretch. Returns how long other work had the loop after it. */
async function others(share: LoopShare): Promise<number> {
  const before = loop.active;
  await share.others();
  return loop.active - before;
}

beforeEach(() => {
  Object.assign(loop, { active: 0, idle: 0 });
  turn = { active: 2, idle: 0 };
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation(() => {
    const seen = { ...loop, utilization: 1 };
    loop.active += turn.active;
    loop.idle += turn.idle;
    return seen;
  });
});
afterEach(() => void vi.restoreAllMocks());

test('other work gets half as much time as the stretch took', async () => {
  const share = new LoopShare();
  work(200);
  const theirs = await others(share);
  expect(theirs).toBeGreaterThanOrEqual(100);
  expect(theirs).toBeLessThanOrEqual(110);
});

test('a stretch begins once the one before it and the other work after it are over', async () => {
  const share = new LoopShare();
  work(200);
  await share.others();
  work(20);
  // The first stretch isn't counted again.
  expect(await others(share)).toBeLessThanOrEqual(20);
});

test('a loop without other work is given back at once', async () => {
  const share = new LoopShare();
  work(200);
  turn = { active: 0.1, idle: 1 };
  expect(await others(share)).toBeLessThan(1);
});

test('the event loop reports its utilisation, by which stretches are measured', async () => {
  vi.restoreAllMocks();
  const { active } = performance.eventLoopUtilization();
  const until = performance.now() + 50;
  while (performance.now() < until);
  expect(performance.eventLoopUtilization().active - active).toBeGreaterThanOrEqual(49);
});
