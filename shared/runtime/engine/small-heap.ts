import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the heap of this process small from now on, at the cost of CPU time. For a process that only produces. Call it as early
 * as possible, because a heap that has grown never shrinks again.
 *
 * URLs on their way to the frontier live for a few milliseconds, just long enough for V8 to treat them as survivors, and on a
 * machine with memory to spare it lets them pile up. V8 reads both flags each time it decides how far to grow.
 *
 * | 5 million URLs             | URLs/s  | CPU per URL | RSS    |
 * |----------------------------|---------|-------------|--------|
 * | V8's defaults              | 121 000 | 6.0 µs      | 354 MB |
 * | called at the very start   | 101 000 | 9.1 µs      | 175 MB |
 *
 * The table was measured with growth by 50 %. On a slower machine, RSS was 205 and 207 MB at 50 %, 185 and 203 MB at 25 %, and
 * 190 and 192 MB at 10 %, all at the same speed.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=10');
}
