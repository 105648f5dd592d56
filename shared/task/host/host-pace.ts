import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts';

/**
 * The reason for the pace of a host, which is the longest interval that applies.
 *
 * | because   | the interval                                                                           |
 * |-----------|----------------------------------------------------------------------------------------|
 * | `rate`    | the run's own, that of a slower run that used the host recently, or a limit set by hand |
 * | `answers` | its recent response time divided by its open requests; only if there is a rate          |
 * | `robots`  | the Crawl-delay of its robots.txt                                                       |
 * | `slowed`  | set when it said "slow down": doubled each time, shortened again with each page         |
 */
export type PaceReason = 'rate' | 'answers' | 'robots' | 'slowed';

/** The interval that applies, and its reason. */
export interface HostPace {
  /** Milliseconds between two requests; 0 for no limit. */
  readonly intervalMs: number;
  readonly because: PaceReason;
  /** The host's recent response time in whole milliseconds, if known. */
  readonly responseMs?: number;
  /** What the host said when it was slowed. */
  readonly slowReason?: string;
}

/** Intervals by their reasons; 0 where there is none. */
export type Intervals = Readonly<Record<PaceReason, number>>;

/** Returns the longest interval that applies, and its reason; the first of equal ones. */
export function longestInterval(intervals: Intervals): Pick<HostPace, 'intervalMs' | 'because'> {
  const { rate, answers, robots, slowed } = intervals;
  const byAnswers = rate > 0 ? answers : 0;
  if (slowed > Math.max(rate, byAnswers, robots)) return { intervalMs: slowed, because: 'slowed' };
  if (robots > Math.max(rate, byAnswers)) return { intervalMs: robots, because: 'robots' };
  if (byAnswers > rate) return { intervalMs: byAnswers, because: 'answers' };
  return { intervalMs: rate, because: 'rate' };
}

/** Longest response time that is counted; slower responses count as this. */
export const LONGEST_RESPONSE_MS = MINUTE_MS;

/**
 * Updates the moving average of a host's response time, in which each answer counts for a quarter. It is kept to a tenth of a
 * millisecond: rounded to whole ones, it could stay at the 8 ms of the first answers although the host now answers in 5. A failed
 * request can only raise it: a refused connection is not a quick answer.
 */
export function averageResponseMs(average: number | undefined, tookMs: number, isFailure: boolean): number | undefined {
  const took = Math.min(inTenths(tookMs), LONGEST_RESPONSE_MS);
  if (isFailure && took <= (average ?? 0)) return average;
  return average === undefined ? took : inTenths(average + (took - average) / 4);
}

/** Rounds milliseconds to a tenth. */
export function inTenths(ms: number): number {
  return Math.floor(ms * 10 + 0.5) / 10;
}

/** The first interval of a slowed host that had no limit. */
export const SLOW_START_MS = SECOND_MS;
/** The longest interval to which a host is slowed; its pauses may be longer. */
export const SLOWEST_MS = MINUTE_MS;
/** Interval below which a slowed host that had no limit becomes unlimited again. */
export const SLOW_END_MS = 500;

/** Returns the new interval of a host that said "slow down" at the given one. */
export function slowedIntervalMs(intervalMs: number): number {
  return Math.min(SLOWEST_MS, Math.max(SLOW_START_MS, 2 * intervalMs));
}

/** Returns the new interval of a slowed host after it gave a page: a quarter shorter, or 0 once it is back at its rate. */
export function recoveredIntervalMs(slowMs: number, rateMs: number): number {
  const next = Math.floor((slowMs * 3) / 4);
  return next < SLOW_END_MS || next <= rateMs ? 0 : next;
}

/** Time for which a host is remembered as answering other tasks after it had said "slow down". */
export const ANSWERED_LATELY_MS = HOUR_MS;

/** The first and the longest pause of a host that says "slow down" without saying for how long. */
export const THROTTLE_BASE_MS = 15 * SECOND_MS;
export const THROTTLE_CAP_MS = 15 * MINUTE_MS;

/**
 * Returns how long a host is paused if it says "slow down" without saying for how long: 15 s, 30 s, 1 min … up to 15 min.
 *
 * @param throttles times that it has said so since its last page, from 1
 */
export function throttlePauseMs(throttles: number): number {
  return Math.min(THROTTLE_CAP_MS, THROTTLE_BASE_MS * 2 ** (throttles - 1));
}
