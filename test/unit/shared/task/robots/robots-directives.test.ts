import { expect, test } from 'vitest';
import {
  forbidsFollowing,
  isRobotsMeta,
  joinedRobotsTags,
} from '../../../../../shared/task/robots/robots-directives.ts';

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
  ['max-image-preview:none, max-snippet:nofollow',                 false],
  ['noindex nofollow',                                             true],
  ['noindex;nofollow',                                             true],
  ['nofollow; max-snippet:-1',                                     true],
  ['googlebot: noindex nofollow',                                  false],
  ['trawlbot: noindex nofollow',                                   true],
  ['trawlbot: max-image-preview: none',                            false],
  [`${' '.repeat(16_000)}nofollow`,                                true],
])('%s forbids following: %s', (directives, forbids) => {
  expect(forbidsFollowing(directives)).toBe(forbids);
});

// biome-ignore format: a table
test.each([
  [['noindex'],                                                    'noindex'],
  [['noindex', 'nofollow'],                                        'noindex, nofollow'],
  [['googlebot: noindex', 'nofollow'],                             'nofollow, googlebot: noindex'],
  [['TrawlBot: nofollow', 'otherbot: all'],                        'TrawlBot: nofollow, otherbot: all'],
  [['a: noindex', 'noarchive, b: none', 'nofollow'],               'noarchive, nofollow, a: noindex, b: none'],
  [['unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT', 'none'],   'unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, none'],
])('the tags %j are joined as %s', (tags, joined) => {
  expect(joinedRobotsTags(tags)).toBe(joined);
});

test('a meta element counts if it is for all robots or for this one', () => {
  expect(['robots', 'ROBOTS', ' TrawlBot ', 'googlebot', ''].map(isRobotsMeta)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
