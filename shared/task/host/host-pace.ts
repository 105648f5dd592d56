import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts';

/**
 * How fast a host may be asked: the longest interval that applies.
 *
 * | because   | the interval                                                                           |
 * |-----------|----------------------------------------------------------------------------------------|
 * | `rate`    | the run's own, that of a slower run that used the host a short while ago, or a limit by hand |
 * | `answers` | its recent response time divided by its open requests; only if there is a rate          |
 * | `robots`  | the Crawl-delay of its robots.txt                                                       |
 * | `slowed`  | it said "slow down": doubled each time, shorter again with each page                    |
 */
export type PaceReason = 'rate' | 'answers' | 'robots' | 'slowed';

/** The interval that counts, and where it comes from. */
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

/** The longest of the intervals that count, and its reason; of equal ones, the first. */
export function longestInterval(intervals: Intervals): Pick<HostPace, 'intervalMs' | 'because'> {
  const { rate, answers, robots, slowed } = intervals;
  const byAnswers = rate > 0 ? answers : 0;
  if (slowed > Math.max(rate, byAnswers, robots)) return { intervalMs: slowed, because: 'slowed' };
  if (robots > Math.max(rate, byAnswers)) return { intervalMs: robots, because: 'robots' };
  if (byAnswers > rate) return { intervalMs: byAnswers, because: 'answers' };
  return { intervalMs: rate, because: 'rate' };
}

/** A request counts as having taken this long at most. */
export const LONGEST_RESPONSE_MS = MINUTE_MS;

/**
 * The moving average of a host's response time, to a tenth of a millisecond: each answer counts for a quarter. In whole ones, a host
 * that answers in 5 would stay at the 8 that its first answers took. A failed request may only raise it: a refused connection is not
 * a quick answer.
 */
export function averageResponseMs(average: number | undefined, tookMs: number, isFailure: boolean): number | undefined {
  const took = Math.min(inTenths(tookMs), LONGEST_RESPONSE_MS);
  if (isFailure && took <= (average ?? 0)) return average;
  return average === undefined ? took : inTenths(average + (took - average) / 4);
}

/** Milliseconds, to a tenth. */
export function inTenths(ms: number): number {
  return Math.floor(ms * 10 + 0.5) / 10;
}

/** The first interval of a slowed host that had no limit. */
export const SLOW_START_MS = SECOND_MS;
/** No host is slowed to more than this; its pauses may be longer. */
export const SLOWEST_MS = MINUTE_MS;
/** Below this interval, a slowed host that had no limit has none again. */
export const SLOW_END_MS = 500;

/** The new interval of a host that said "slow down" at the given one. */
export function slowedIntervalMs(intervalMs: number): number {
  return Math.min(SLOWEST_MS, Math.max(SLOW_START_MS, 2 * intervalMs));
}

/** The new interval of a slowed host after it gave a page: a quarter shorter, and 0 once it is back at its rate. */
export function recoveredIntervalMs(slowMs: number, rateMs: number): number {
  const next = Math.floor((slowMs * 3) / 4);
  return next < SLOW_END_MS || next <= rateMs ? 0 : next;
}

/** How long it is remembered that a host answered other tasks after it had said "slow down". */
export const ANSWERED_LATELY_MS = HOUR_MS;

/** The first and the longest pause of a host that says "slow down" without saying for how long. */
export const THROTTLE_BASE_MS = 15 * SECOND_MS;
export const THROTTLE_CAP_MS = 15 * MINUTE_MS;

/**
 * How long a host is paused if it says "slow down" without saying for how long.
 *
 * @param throttles how many times it has said so since its last page, from 1: gives 15 s, 30 s, 1 min … up to 15 min
 */
export function throttlePauseMs(throttles: number): number {
  return Math.min(THROTTLE_CAP_MS, THROTTLE_BASE_MS * 2 ** (throttles - 1));
}
