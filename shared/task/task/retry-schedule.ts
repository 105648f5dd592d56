import { MINUTE_MS } from '../durations.ts';

/** The first retry waits at most this long. */
export const RETRY_BASE_MS = 2_000;
/** No retry waits longer than this. */
export const RETRY_CAP_MS = 15 * MINUTE_MS;

/**
 * How long a task waits before its next attempt: exponential, with full jitter, so that the retries of one broken host
 * don't come back in one wave.
 *
 * | attempts so far | waits between 0 and |
 * |-----------------|---------------------|
 * | 1               | 2 s                 |
 * | 2               | 4 s                 |
 * | 3               | 8 s                 |
 * | …               | twice as long, up to 15 min |
 *
 * @param attempts attempts made so far, 1 or more
 * @param random a number in [0, 1)
 */
export function retryDelayMs(attempts: number, random: number): number {
  const ceiling = Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** Math.max(0, attempts - 1));
  return Math.floor(ceiling * random);
}
