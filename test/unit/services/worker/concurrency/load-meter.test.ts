import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { LoadMeter } from '../../../../../services/worker/concurrency/load-meter.ts';

/** What the meter reads of a process whose event loop is blocked for 100 ms at a time, for more than a second. */
async function readBusy(options: ConstructorParameters<typeof LoadMeter>[0]) {
  const meter = new LoadMeter(options);
  meter.start();
  onTestFinished(() => meter.stop());
  for (let n = 0; n < 12; n++) {
    const until = performance.now() + 100;
    while (performance.now() < until);
    await sleep(1);
  }
  return meter.read();
}

test('an event loop that is late shows', async () => {
  const { utilization, loopDelayMs, memoryShare } = await readBusy({ warmUpMs: 0 });
  expect(loopDelayMs).toBeGreaterThan(50);
  expect(utilization).toBeGreaterThan(0.9);
  expect(memoryShare).toBeGreaterThan(0);
  expect(memoryShare).toBeLessThan(1);
});

test('in the first seconds it is late whatever is asked of it: that does not count', async () => {
  expect(await readBusy({})).toMatchObject({ loopDelayMs: 0, utilization: expect.closeTo(1, 0) });
});

test('what the process did before it began to work does not count', async () => {
  const meter = new LoadMeter();
  onTestFinished(() => meter.stop());
  const until = performance.now() + 1_000;
  while (performance.now() < until);
  meter.start();
  await sleep(100);
  expect(meter.read().utilization).toBeLessThan(0.5);
});

test('where there is no file left to read the memory by, it is as before', () => {
  let files = 1;
  const readRss = (): number => {
    if (files-- > 0) return totalmem() / 2;
    throw Object.assign(new Error('too many open files, uv_resident_set_memory'), { code: 'EMFILE' });
  };
  const meter = new LoadMeter({ readRss });
  onTestFinished(() => meter.stop());
  const before = meter.read().memoryShare;
  expect(before).toBeGreaterThan(0);
  expect(meter.read().memoryShare).toBe(before);
});
