import { expect, test } from 'vitest';
import { forbidsFollowing, isRobotsMeta } from '../../../../../shared/task/robots/robots-directives.ts';

// biome-ignore format: a table
test.each([
  ['nofollow',                                                     true],
  ['noindex, NoFollow',                                            true],
  ['none',                                                         true],
  ['noindex',                                                      false],
  ['all',                                                          false],
  ['',                                                             false],
  ['notnofollow',                                                  false],
  ['googlebot: nofollow',                                          false],
  ['googlebot: noindex, nofollow',                                 false],
  ['googlebot: noindex, TrawlBot: nofollow',                       true],
  ['trawlbot: noindex, none',                                      true],
  ['unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow',        true],
  ['unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, nofollow',   true],
  ['unavailable_after: Friday, 25-Jun-30 15:00:00 UTC, none',      true],
  ['googlebot: unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, nofollow', false],
  ['max-snippet:-1, max-image-preview:large, nofollow',            true],
  [`${' '.repeat(16_000)}nofollow`,                                true],
])('%s forbids following: %s', (directives, forbids) => {
  expect(forbidsFollowing(directives)).toBe(forbids);
});

test('a meta element is for all robots, or for this one', () => {
  expect(['robots', 'ROBOTS', ' TrawlBot ', 'googlebot', ''].map(isRobotsMeta)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
