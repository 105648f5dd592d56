import { expect } from 'vitest';
import { yardstickMs } from './yardstick.ts';

/** The yardstick's time on a fast machine. */
const YARDSTICK_MS = 5;

/**
 * Expects `run` to take less CPU time than `seconds` on a fast machine: on a slower one, as much longer as the yardstick takes there.
 * Others on the machine don't count. For what is far below the limit as it should be, and far above it if its time grows with the
 * square of the input.
 */
export function expectCpuBelow(seconds: number, run: () => void): void {
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
