import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the heap of this process small from now on, at a cost of time: for a process that does nothing but produce.
 *
 * URLs on their way to the frontier live a few milliseconds, just long enough that V8 takes them for survivors, and on a
 * machine with memory to spare it lets them gather: 5 million URLs at 75 000 a second took 410 MB, and take 180 MB so, at
 * two thirds more CPU time per URL. Both flags are read each time that V8 decides how far to grow, so that it is not too
 * late for them once the process runs.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=50');
}
