import { DAY_MS, MINUTE_MS, SECOND_MS } from '../durations.ts';

/** A point in time as a person names it: a date, or a duration ago. */
export type Moment = { readonly at: number } | { readonly agoMs: number };

/** Returns the epoch milliseconds of a moment. */
export function timeOf(moment: Moment, now: number): number {
  return 'at' in moment ? moment.at : now - moment.agoMs;
}

/**
 * Returns the end of the period that a `lastmod` names, exclusive, in epoch milliseconds: `2026-11` ends with November. Nothing if
 * it is not a date.
 *
 * Accepts the W3C's forms (https://www.w3.org/TR/NOTE-datetime), taking a time without a zone as UTC, and other forms that are
 * common in feeds: a space for the `T`, `+0000`, the dates of RFC 822.
 */
export function lastmodEnd(text: string): number | undefined {
  const [, year, month, day, hour, minute, second, fraction, zone] = W3C.exec(text.trim()) ?? [];
  if (year === undefined) return rfc822End(text);
  if (month === undefined) return Date.UTC(Number(year) + 1, 0);
  if (Number(month) < 1 || Number(month) > 12) return undefined;
  if (day === undefined) return Date.UTC(Number(year), Number(month));
  const start = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // Not a date: the 31st of a month with 30 days, say.
  if (new Date(start).getUTCDate() !== Number(day)) return undefined;
  if (hour === undefined) return start + DAY_MS;
  if (Number(hour) > 24 || Number(minute) > 59 || Number(second ?? 0) > 60) return undefined;
  const at = start + (Number(hour) * 60 + Number(minute)) * MINUTE_MS - zoneMs(zone);
  if (second === undefined) return at + MINUTE_MS;
  const from = at + Number(second) * SECOND_MS;
  // A fraction is also a period: `.2` is a tenth of a second long. Digits beyond milliseconds are ignored.
  return fraction === undefined ? from + SECOND_MS : from + Number(fraction.slice(0, 3).padEnd(3, '9')) + 1;
}

/** Returns the last moment of the period that a `lastmod` names: a page changed on `2026-11-21` may have changed that evening. */
export function lastMomentOf(lastmod: string): number | undefined {
  const end = lastmodEnd(lastmod);
  return end === undefined ? undefined : end - 1;
}

/** Returns the later of an entry's two dates, those of publication and of change. An unreadable date counts as earlier than any other. */
export function laterDate(one: string, other: string): string {
  return (lastmodEnd(one) ?? Number.NEGATIVE_INFINITY) > (lastmodEnd(other) ?? Number.NEGATIVE_INFINITY) ? one : other;
}

/** Is a date certainly before `since`? No if it is missing or can't be read. */
export function isOlder(lastmod: string | undefined, since: number): boolean {
  const end = lastmod === undefined ? undefined : lastmodEnd(lastmod);
  return end !== undefined && end <= since;
}

const W3C =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d\d:?\d\d)?)?)?)?$/i;
const RFC_822 = /^(?:[a-z]{3},\s*)?\d{1,2}\s+[a-z]{3}\s+\d{4}\s+\d\d:\d\d(:\d\d)?\s*(?:[a-z]{1,4}|[+-]\d{4})$/i;

function zoneMs(zone = 'Z'): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MINUTE_MS;
}

function rfc822End(text: string): number | undefined {
  const [all, seconds] = RFC_822.exec(text.trim()) ?? [];
  const time = all === undefined ? Number.NaN : Date.parse(all);
  return Number.isNaN(time) ? undefined : time + (seconds === undefined ? MINUTE_MS : SECOND_MS);
}
