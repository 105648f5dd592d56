import { expect, onTestFinished, test } from 'vitest';
import { Sizing } from '../../../../../services/worker/concurrency/sizing.ts';

test('the bound is memory while pages wait for memory, and only then', async () => {
  const fetcher = { mostAtOnce: 1_024, waitingForMemory: 1 };
  const meter = {
    start: () => {},
    stop: () => {},
    read: () => ({ utilization: 0.5, loopDelayMs: 0, memoryShare: 0.1 }),
  };
  const sizing = new Sizing({ wanted: 'auto', meter, fetcher, records: { longestMs: 0 }, onDoubled: () => {} });
  onTestFinished(() => sizing.stop());
  sizing.start();
  await expect.poll(() => sizing.bound).toBe('memory');
  fetcher.waitingForMemory = 0;
  await expect.poll(() => sizing.bound).toBe('politeness');
});
