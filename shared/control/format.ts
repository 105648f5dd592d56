/** A number as people read it: `4 812`. */
export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(?:\d{3}){1,7}$)/g, ' ');
}

/** A rate with as many digits as it deserves: `850`, `12.5`, `0.33`. */
export function perSecond(value: number): string {
  if (value >= 100) return count(value);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size: `48.8 MiB`. */
export function size(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[power]}`;
}

/** A length of time, as precise as a person wants it: `0.4 s`, `52 s`, `3 min 20 s`, `1 h 20 min`, `11 d 13 h`. */
export function duration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 3_600) return two(seconds, 60, 'min', 1, 's');
  if (seconds < 86_400) return two(seconds, 3_600, 'h', 60, 'min');
  return two(seconds, 86_400, 'd', 3_600, 'h');
}

/** A host's pace: `60/min`, `5/s`. */
export function pace(intervalMs: number): string {
  const perMinute = 60_000 / intervalMs;
  return perMinute >= 1 ? `${Number(perMinute.toFixed(1))}/min` : `${Number((perMinute * 60).toFixed(1))}/h`;
}

function two(seconds: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % big) / small);
  const whole = `${Math.floor(seconds / big)} ${bigName}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`;
}
