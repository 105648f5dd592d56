import { MINUTE_MS } from '../durations.ts';

/** Longest wait before the first retry. */
const RETRY_BASE_MS = 2_000;
/** Longest wait before any retry. */
const RETRY_CAP_MS = 15 * MINUTE_MS;

export const BACKOFFS = ['fixed', 'linear', 'exponential'] as const;

/** The waits of a task before each further attempt. */
export interface RetrySchedule {
  /** How waits grow. Default: `exponential`. */
  readonly backoff?: (typeof BACKOFFS)[number];
  /** The first wait, in milliseconds. Default: {@link RETRY_BASE_MS}. */
  readonly firstDelayMs?: number;
  /** The longest wait, in milliseconds. Default: {@link RETRY_CAP_MS}. */
  readonly maxDelayMs?: number;
}

/**
 * Returns how long a task waits before its next attempt. Exponential waits have full jitter, so that the retries of one broken host
 * don't come back in one wave.
 *
 * | attempts so far | exponential: between 0 and | linear | fixed |
 * |-----------------|----------------------------|--------|-------|
 * | 1               | 2 s                        | 2 s    | 2 s   |
 * | 2               | 4 s                        | 4 s    | 2 s   |
 * | 3               | 8 s                        | 6 s    | 2 s   |
 * | …               | twice as long              | 2 s more | 2 s |
 *
 * @param attempts attempts made so far, 1 or more
 * @param random a number in [0, 1)
 */
export function retryDelayMs(attempts: number, random: number, schedule: RetrySchedule = {}): number {
  const { backoff = 'exponential', firstDelayMs = RETRY_BASE_MS, maxDelayMs = RETRY_CAP_MS } = schedule;
  const before = Math.max(0, attempts - 1);
  switch (backoff) {
    case 'fixed':
      return Math.min(maxDelayMs, firstDelayMs);
    case 'linear':
      return Math.min(maxDelayMs, firstDelayMs * (before + 1));
    case 'exponential':
      return Math.floor(Math.min(maxDelayMs, firstDelayMs * 2 ** before) * random);
  }
}
