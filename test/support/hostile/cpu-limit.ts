import { expect } from 'vitest';
import { collectGarbage } from './garbage.ts';
import { yardstickMs } from './yardstick.ts';

/** The yardstick's time on a fast machine. */
const YARDSTICK_MS = 5;
/** So much takes less than half a second to collect. */
const MOST_LEFT_BYTES = 256 * 2 ** 20;

/**
 * Expects `run` to take less CPU time than `seconds` on a fast machine: on a slower one, as much longer as the yardstick takes there.
 * Others on the machine don't count. For what is far below the limit as it should be, and far above it if its time grows with the
 * square of the input.
 */
export function expectCpuBelow(seconds: number, run: () => void): void {
  // What earlier tests have left would be collected at some moment, perhaps now, and count.
  if (process.memoryUsage().heapUsed > MOST_LEFT_BYTES) collectGarbage();
  const began = cpuMs();
  run();
  const took = (cpuMs() - began) / 1_000;
  if (took >= seconds)
    expect(took / Math.max(1, yardstickMs(cpuMs) / YARDSTICK_MS), 'CPU seconds').toBeLessThan(seconds);
}

/** Of the whole process: that of a thread alone would be counted in ticks only. */
function cpuMs(): number {
  return process.cpuUsage().user / 1_000;
}
