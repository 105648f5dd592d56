const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** A process that ran at least this long counts as healthy: earlier failures are forgotten. */
const HEALTHY_MS = 60_000;

/**
 * Returns the delay before a process that died is restarted: 1 s, then twice as long each time, up to 30 s.
 *
 * @param lastMs the delay before its last start; 0 if that was its first
 * @param livedMs how long it ran
 */
export function restartDelayMs(lastMs: number, livedMs: number): number {
  return livedMs >= HEALTHY_MS || lastMs === 0 ? FIRST_MS : Math.min(lastMs * 2, LONGEST_MS);
}
