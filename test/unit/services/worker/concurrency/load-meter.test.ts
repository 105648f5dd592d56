import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { LoadMeter } from '../../../../../services/worker/concurrency/load-meter.ts';

/** Reads the meter after blocking the event loop for 100 ms at a time, for more than a second. */
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

test('a blocked event loop shows in loop delay and utilization', async () => {
  const { utilization, loopDelayMs, memoryShare } = await readBusy({ warmUpMs: 0 });
  expect(loopDelayMs).toBeGreaterThan(50);
  expect(utilization).toBeGreaterThan(0.9);
  expect(memoryShare).toBeGreaterThan(0);
  expect(memoryShare).toBeLessThan(1);
});

test('loop delay does not count in the first seconds of a process', async () => {
  expect(await readBusy({})).toMatchObject({ loopDelayMs: 0, utilization: expect.closeTo(1, 0) });
});

test('load from before the meter started does not count', async () => {
  const meter = new LoadMeter();
  onTestFinished(() => meter.stop());
  const until = performance.now() + 1_000;
  while (performance.now() < until);
  meter.start();
  await sleep(100);
  expect(meter.read().utilization).toBeLessThan(0.5);
});

test('the memory share keeps its last value when no file descriptor is left to read it', () => {
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
