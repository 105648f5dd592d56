import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts';

/**
 * How fast a host may be asked: the longest interval that applies.
 *
 * | because   | the interval                                                                           |
 * |-----------|----------------------------------------------------------------------------------------|
 * | `rate`    | the run's own, or that of a slower run that named the host a short while ago            |
 * | `answers` | its recent response time, shared between its open requests; only where there is a rate  |
 * | `robots`  | the Crawl-delay of its robots.txt                                                       |
 * | `slowed`  | it said "slow down": doubled each time, shorter again with each page                    |
 */
export type PaceReason = 'rate' | 'answers' | 'robots' | 'slowed';

/** The interval that counts, and where it comes from. */
export interface HostPace {
  /** Milliseconds between two requests; 0 for no limit. */
  readonly intervalMs: number;
  readonly because: PaceReason;
  /** Its recent response time, as far as it is known. */
  readonly responseMs?: number;
  /** What it said when it was slowed. */
  readonly slowReason?: string;
}

/** Intervals by their reasons; 0 where there is none. */
export type Intervals = Readonly<Record<PaceReason, number>>;

/** The longest of the intervals that count, and its reason: the first of those that are alike. */
export function longestInterval(intervals: Intervals): Pick<HostPace, 'intervalMs' | 'because'> {
  const { rate, answers, robots, slowed } = intervals;
  const byAnswers = rate > 0 ? answers : 0;
  if (slowed > Math.max(rate, byAnswers, robots)) return { intervalMs: slowed, because: 'slowed' };
  if (robots > Math.max(rate, byAnswers)) return { intervalMs: robots, because: 'robots' };
  if (byAnswers > rate) return { intervalMs: byAnswers, because: 'answers' };
  return { intervalMs: rate, because: 'rate' };
}

/** No request counts as having taken longer. */
export const LONGEST_RESPONSE_MS = MINUTE_MS;

/**
 * The moving average of a host's response time: each answer counts for a quarter. A failed request may only raise it: a
 * refused connection is not a quick answer.
 */
export function averageResponseMs(average: number | undefined, tookMs: number, isFailure: boolean): number | undefined {
  const took = Math.min(Math.round(tookMs), LONGEST_RESPONSE_MS);
  if (isFailure && took <= (average ?? 0)) return average;
  return average === undefined ? took : Math.floor(average + (took - average) / 4 + 0.5);
}

/** A host without a limit is slowed to this at first. */
export const SLOW_START_MS = SECOND_MS;
/** No host is slowed to more than this; its pauses may be longer. */
export const SLOWEST_MS = MINUTE_MS;
/** A host without a limit has none again below this. */
export const SLOW_END_MS = 500;

/** The interval of a host that said "slow down", at which it is now. */
export function slowedIntervalMs(intervalMs: number): number {
  return Math.min(SLOWEST_MS, Math.max(SLOW_START_MS, 2 * intervalMs));
}

/** The interval of a slowed host after it gave a page: a quarter shorter, and 0 once it is back at its rate. */
export function recoveredIntervalMs(slowMs: number, rateMs: number): number {
  const next = Math.floor((slowMs * 3) / 4);
  return next < SLOW_END_MS || next <= rateMs ? 0 : next;
}

/** How long it is remembered that a host said "slow down" and answered others after it. */
export const ANSWERED_LATELY_MS = HOUR_MS;

/** The first pause of a host that doesn't say how long it wants to be left alone, and the longest. */
export const THROTTLE_BASE_MS = 15 * SECOND_MS;
export const THROTTLE_CAP_MS = 15 * MINUTE_MS;

/**
 * How long a host is left alone that says "slow down" without saying for how long.
 *
 * @param throttles how often it has said so since its last page, 1 or more: 15 s, 30 s, 1 min … up to a quarter of an hour
 */
export function throttlePauseMs(throttles: number): number {
  return Math.min(THROTTLE_CAP_MS, THROTTLE_BASE_MS * 2 ** (throttles - 1));
}
