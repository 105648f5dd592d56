import { expect, test } from 'vitest';
import { isOlder, lastMomentOf, lastmodEnd } from '../../../../../shared/task/sitemap/lastmod.ts';

// biome-ignore format: a table
test.each([
  // The W3C's forms: each stands for all of its year, month, day, minute, second.
  ['2004',                            '2005-01-01T00:00:00.000Z'],
  ['2004-12',                         '2005-01-01T00:00:00.000Z'],
  ['2004-02-29',                      '2004-03-01T00:00:00.000Z'],
  ['2004-12-23T18:00Z',               '2004-12-23T18:01:00.000Z'],
  ['2004-12-23T18:00+02:00',          '2004-12-23T16:01:00.000Z'],
  ['2004-12-23T18:00:15-05:30',       '2004-12-23T23:30:16.000Z'],
  ['2004-12-23T18:00:15.5Z',          '2004-12-23T18:00:15.600Z'],
  // In the wild.
  [' 2004-12-23T18:00:15 ',           '2004-12-23T18:00:16.000Z'],
  ['2004-12-23 18:00:15',             '2004-12-23T18:00:16.000Z'],
  ['2004-12-23T18:00:15+0000',        '2004-12-23T18:00:16.000Z'],
  ['Thu, 05 Jan 2017 12:34:51 GMT',   '2017-01-05T12:34:52.000Z'],
  ['5 Jan 2017 12:34:51 +0100',       '2017-01-05T11:34:52.000Z'],
])('%s was over by %s', (text, end) => {
  expect(new Date(lastmodEnd(text) ?? Number.NaN).toISOString()).toBe(end);
});

test.each(['', '23/12/2004', '2004-13-45', '2004-11-31', '2004-12-23T25:00Z', 'yesterday', '20041223', '12345678901'])(
  '%j is no date, and so never counts as old',
  (text) => {
    expect(lastmodEnd(text)).toBeUndefined();
    expect(isOlder(text, Date.UTC(3000))).toBe(false);
  },
);

test('a page that changed on the day itself is not older than that day', () => {
  const since = Date.parse('2026-11-01');
  const older = ['2026-10-31', '2026-10', '2026-10-31T23:59:59Z', '2026-11-01T00:30+01:00'];
  const newer = ['2026-11-01', '2026-11', '2026', '2026-11-01T00:00:00Z', '2026-10-31T23:30:00-01:00'];
  expect(older.filter((text) => isOlder(text, since))).toEqual(older);
  expect(newer.filter((text) => isOlder(text, since))).toEqual([]);
});

test.each([
  ['2026', '2026-12-31T23:59:59.999Z'],
  ['2026-02', '2026-02-28T23:59:59.999Z'],
  ['2026-11-21', '2026-11-21T23:59:59.999Z'],
  [' 2026-11-21\n', '2026-11-21T23:59:59.999Z'],
  ['2026-11-21T09:30Z', '2026-11-21T09:30:59.999Z'],
  ['2026-11-21T09:30:15Z', '2026-11-21T09:30:15.999Z'],
  ['2026-11-21T09:30:15.2Z', '2026-11-21T09:30:15.299Z'],
  ['2026-11-21T09:30:15.250Z', '2026-11-21T09:30:15.250Z'],
  ['2026-11-21T09:30:15.2509999+01:00', '2026-11-21T08:30:15.250Z'],
  ['2026-11-21T09:30:15-0530', '2026-11-21T15:00:15.999Z'],
  ['2026-11-21 09:30:15', '2026-11-21T09:30:15.999Z'],
  ['2026-11-21T24:00:00Z', '2026-11-22T00:00:00.999Z'],
  ['Sat, 21 Nov 2026 09:30:15 GMT', '2026-11-21T09:30:15.999Z'],
  ['21 Nov 2026 09:30 +0100', '2026-11-21T08:30:59.999Z'],
])('%s can mean a time as late as %s', (lastmod, expected) => {
  expect(new Date(lastMomentOf(lastmod) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each(['', 'yesterday', '2026-13-01', '2026-11-32', '2026-11-21T25:61Z', '1764000000', '21.11.2026', '2026-1-1'])(
  '%j has no last moment',
  (lastmod) => {
    expect(lastMomentOf(lastmod)).toBeUndefined();
  },
);
