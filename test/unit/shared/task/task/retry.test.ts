import { expect, test, vi } from 'vitest';
import { retryAfterMs } from '../../../../../shared/task/host/retry-after.ts';
import { retryDelayMs } from '../../../../../shared/task/task/retry-schedule.ts';

test.each([
  // attempts   least   half        most
  [1, 0, 1_000, 1_999],
  [2, 0, 2_000, 3_999],
  [3, 0, 4_000, 7_999],
  [4, 0, 8_000, 15_999],
  [9, 0, 256_000, 511_999],
  [10, 0, 450_000, 899_999],
  [99, 0, 450_000, 899_999],
])('after %i attempts a task waits between %i and %3$i ms', (attempts, least, half, most) => {
  expect([0, 0.5, 0.99999999].map((random) => retryDelayMs(attempts, random))).toEqual([least, half, most]);
});

const NOW = Date.parse('Sun, 06 Nov 1994 08:49:37 GMT');

test.each([
  ['120', 120_000],
  [' 0 ', 0],
  ['86400', 3_600_000],
  ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
  ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
  ['Sun Nov  6 08:50:37 1994', 60_000],
  ['Sun Nov  6 08:50:37 1994 GMT', 60_000],
  ['Sun, 06 Nov 1994 08:50:37', 60_000],
  ['Sun, 06 Nov 1994 09:50:37 +0100', 60_000],
  ['Sun, 06 Nov 1994 08:40:00 GMT', 0],
  ['Sun, 06 Nov 2044 08:49:37 GMT', 3_600_000],
  ['soon', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['2', 2_000],
  ['', undefined],
  [undefined, undefined],
])('Retry-After: %s asks for %s ms', (value, ms) => {
  expect(retryAfterMs(value === undefined ? {} : { 'retry-after': value }, NOW)).toBe(ms);
});

test.each(['America/New_York', 'Asia/Tokyo'])(
  'a date without a zone is read as GMT, even on a machine in %s',
  (zone) => {
    vi.stubEnv('TZ', zone);
    try {
      expect(new Date(NOW).getTimezoneOffset()).not.toBe(0);
      expect(retryAfterMs({ 'retry-after': 'Sun Nov  6 08:50:37 1994' }, NOW)).toBe(60_000);
      const headers = { 'retry-after': 'Sun, 06 Nov 1994 09:00:30 GMT', date: 'Sun Nov  6 09:00:00 1994' };
      expect(retryAfterMs(headers, NOW)).toBe(30_000);
    } finally {
      vi.unstubAllEnvs();
    }
  },
);

// biome-ignore format: a table
test.each([
  // Retry-After, Date, Age, asks for
  ['Sun, 06 Nov 1994 09:00:30 GMT', 'Sun, 06 Nov 1994 09:00:00 GMT',  undefined, 30_000],
  ['Sat, 05 Nov 1994 08:00:30 GMT', 'Saturday, 05-Nov-94 08:00:00 GMT', undefined, 30_000],
  ['Sun, 06 Nov 2044 09:00:30 GMT', 'Sun, 06 Nov 2044 09:00:00 GMT',  undefined, 30_000],
  ['Sun, 06 Nov 1994 09:00:30 GMT', 'Sun, 06 Nov 1994 09:00:00 GMT',  '20',      10_000],
  ['Sun, 06 Nov 1994 09:00:30 GMT', 'Sun, 06 Nov 1994 09:00:00 GMT',  'x',       30_000],
  ['Sun, 06 Nov 1994 08:50:37 GMT', 'now',                            '20',      60_000],
  ['120',                           'Sun, 06 Nov 2044 09:00:00 GMT',  '20',      120_000],
])('Retry-After: %s, Date: %s, Age: %s asks for %i ms, by the clock of the host if known', (value, date, age, ms) => {
  const headers = { 'retry-after': value, date, ...(age === undefined ? {} : { age }) };
  expect(retryAfterMs(headers, NOW)).toBe(ms);
});
