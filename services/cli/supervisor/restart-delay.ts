const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** A process that has lived this long was healthy: its earlier failures are forgotten. */
const HEALTHY_MS = 60_000;

/**
 * How long to wait before a process that died is started again: 1 s, then twice as long each time, up to 30 s.
 *
 * @param lastMs the wait before it was started; 0 for its first start
 * @param livedMs how long it ran since
 */
export function restartDelayMs(lastMs: number, livedMs: number): number {
  return livedMs >= HEALTHY_MS || lastMs === 0 ? FIRST_MS : Math.min(lastMs * 2, LONGEST_MS);
}
