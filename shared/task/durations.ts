/** Durations in milliseconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The latest time that a `Date` can hold, in the year 275760; epoch milliseconds. */
export const LAST_MOMENT_MS = 8_640_000_000_000_000;
