import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/task/durations.ts';

/** Delays after each failed delivery, about a day in total. */
const DELAYS_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  DAY_MS / 3,
];

/** Returns the milliseconds until the next delivery after this many failed ones, or nothing if the webhook is given up. */
export function redeliveryMs(failed: number, random: () => number): number | undefined {
  const delay = DELAYS_MS[failed - 1];
  // A tenth more or less, so that a receiver that comes back doesn't get all deliveries at once.
  return delay === undefined ? undefined : Math.round(delay * (0.9 + 0.2 * random()));
}
