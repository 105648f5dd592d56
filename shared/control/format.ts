import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../task/durations.ts';

/** Formats a number for people: `4 812`. */
export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(?:\d{3}){1,7}$)/g, ' ');
}

/** Formats a number and its noun: `1 page`, `4 812 pages`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${Math.round(value) === 1 ? one : many}`;
}

/** Formats a rate with a sensible number of digits: `850`, `12.5`, `0.33`. */
export function perSecond(value: number): string {
  if (value >= 100) return count(value);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a size: `48.8 MiB`. */
export function size(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[power]}`;
}

/** Formats a duration as precisely as people need it: `0.4 s`, `52 s`, `3 min 20 s`, `1 h 20 min`, `11 d 13 h`. */
export function duration(ms: number): string {
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < 90 * SECOND_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return two(ms, MINUTE_MS, 'min', SECOND_MS, 's');
  if (ms < DAY_MS) return two(ms, HOUR_MS, 'h', MINUTE_MS, 'min');
  return two(ms, DAY_MS, 'd', HOUR_MS, 'h');
}

/** Formats a future time, in local time: `04:08`, or `Tue 24 Nov, 04:08` if that is on another day than `now`. */
export function clockTime(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)];
  const time = timeOfDay(at);
  if (then.toDateString() === today.toDateString()) return time;
  const [day, month, date] = then.toDateString().split(' ');
  return `${day} ${Number(date)} ${month}, ${time}`;
}

/** Formats a time of day, in local time: `00:05`. Not by locale, since some write 24:05 or have their own digits. */
export function timeOfDay(at: number): string {
  const then = new Date(at);
  return `${twoDigits(then.getHours())}:${twoDigits(then.getMinutes())}`;
}

/** Formats a past time to the second, in UTC: `2026-11-26 14:48:52Z`. Text that is not a time is returned unchanged. */
export function momentText(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Formats a host's pace: `60/min`, `12/h`. */
export function pace(intervalMs: number): string {
  const perMinute = MINUTE_MS / intervalMs;
  return perMinute >= 1 ? `${Number(perMinute.toFixed(1))}/min` : `${Number((perMinute * 60).toFixed(1))}/h`;
}

/** Formats a limit set by hand: `30/min`, or `none`. */
export function limitText(intervalMs: number): string {
  return intervalMs === 0 ? 'none' : pace(intervalMs);
}

function two(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % big) / small);
  const whole = `${Math.floor(ms / big)} ${bigName}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`;
}

/** Returns a run's state for people. A local run that no process crawls stands still, although nobody paused it. */
export function shownState({ state, stoppedAt }: { readonly state: string; readonly stoppedAt?: unknown }): string {
  return state === 'running' && stoppedAt !== undefined ? 'stopped' : state;
}
