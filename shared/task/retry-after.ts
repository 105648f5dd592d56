/** No host is left alone for longer than this because of one answer. */
export const RETRY_AFTER_CAP_MS = 3_600_000;

/**
 * Reads a `Retry-After` header (RFC 9110 section 10.2.3): whole seconds, or an HTTP date.
 *
 * @returns milliseconds from `now`, 0 for a date that has passed, at most an hour; nothing if the value is neither form
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : httpDate(text) - now;
  if (Number.isNaN(ms)) return undefined;
  return Math.min(Math.max(0, ms), RETRY_AFTER_CAP_MS);
}

/** The three forms of RFC 9110 section 5.6.7 all begin with the name of a day; `Date.parse` alone takes far more. */
function httpDate(text: string): number {
  return /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN;
}
