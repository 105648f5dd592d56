import { HOUR_MS, SECOND_MS } from '../durations.ts';

/** Longest pause of a host that one answer can cause. */
export const RETRY_AFTER_CAP_MS = HOUR_MS;

/** Headers of an answer, names in lower case. */
type Headers = Readonly<Record<string, string>>;

/**
 * Reads the `Retry-After` of an answer (RFC 9110 section 10.2.3): whole seconds, or an HTTP date. A date is by the server's
 * clock, so it is compared with the answer's `Date`, plus `Age` if it came from a cache; without a `Date`, with `now`.
 *
 * @returns milliseconds from now, 0 for a date that has passed, at most an hour; nothing if the value is neither form
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text === undefined) return undefined;
  const ms = isWhole(text) ? Number(text) * SECOND_MS : httpDate(text) - (serverTime(headers) ?? now);
  if (Number.isNaN(ms)) return undefined;
  return Math.min(Math.max(0, ms), RETRY_AFTER_CAP_MS);
}

/** Returns the time by the server's clock; nothing if the answer doesn't say. */
function serverTime({ date = '', age = '' }: Headers): number | undefined {
  const sent = httpDate(date.trim());
  if (Number.isNaN(sent)) return undefined;
  return sent + (isWhole(age) ? Number(age) * SECOND_MS : 0);
}

function isWhole(text: string): boolean {
  return /^\d+$/.test(text);
}

/**
 * Reads an HTTP date. The three forms of RFC 9110 section 5.6.7 all begin with the name of a day; `Date.parse` alone accepts far
 * more. The asctime form has no zone: `Date.parse` would assume this machine's.
 */
function httpDate(text: string): number {
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return Number.NaN;
  return Date.parse(/[a-z]$|[+-]\d{2}:?\d{2}$/i.test(text) ? text : `${text} GMT`);
}
