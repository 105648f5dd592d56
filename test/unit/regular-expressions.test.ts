import { describe, expect, test } from 'vitest';
import { attacksOn, textOf } from '../support/hostile/attacks.ts';
import { leapOf } from '../support/hostile/linear-time.ts';
import { readSourcePatterns } from '../support/hostile/source-patterns.ts';

/** As long as a text may be that a pattern meets: a robots.txt has half a megabyte, a line of a sitemap may be all of it. */
const LONGEST = 2 ** 20;
const LONG: readonly string[] = [' ', '\u2028', 'a*'];

/** For the hundreds of texts that are made for each pattern: what is quadratic shows. */
const LESS_LONG = 2 ** 16;
const ODD: readonly string[] = ['\u00a0', '\r', '\n', '*', '0', '"', '<', '%', '\u0000', '\ud800'];

const { patterns, makers } = readSourcePatterns();

test('expressions stand in the source, where this test finds them', () => {
  expect(patterns.length).toBeGreaterThan(50);
  // Of a pattern that a crawler's author wrote, a copy is made.
  expect([...new Set(makers)]).toEqual(['shared/crawler/tools/matching.ts']);
});

describe.each([...new Set(patterns.map(({ file }) => file))])('%s', (file) => {
  const own = patterns.filter((each) => each.file === file).map(({ pattern }) => pattern);

  test.each(own)('%s takes time in proportion to what it is given, whatever that is', (pattern) => {
    const run = (text: string): void => findAll(pattern, text);
    const leaps = (textOf: (length: number) => string, longest: number): boolean =>
      leapOf(run, textOf, longest) !== undefined;
    expect(LONG.find((pump) => leaps((length) => pump.repeat(length / pump.length), LONGEST))).toBeUndefined();
    expect(ODD.find((pump) => leaps((length) => pump.repeat(length), LESS_LONG))).toBeUndefined();
    const attacks = attacksOn(pattern);
    expect(attacks.find((attack) => leaps((length) => textOf(attack, length), LESS_LONG))).toBeUndefined();
    const beginnings = attacks.filter(({ head, pump }) => head === pump).slice(-5);
    expect(beginnings.find((attack) => leaps((length) => textOf(attack, length), LONGEST))).toBeUndefined();
  });
});

/** All matches, one after the other: no search costs more. */
function findAll(pattern: RegExp, text: string): void {
  const search = new RegExp(pattern, `${pattern.flags.replace('g', '')}g`);
  for (let at = 0; search.test(text); at = search.lastIndex) {
    // An empty match leads nowhere.
    if (search.lastIndex === at) search.lastIndex++;
  }
}
