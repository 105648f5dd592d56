import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isUrlPattern, matchesGlob, matchesUrl } from '../../../../../shared/task/url/glob.ts';
import { expectCpuBelow } from '../../../../support/hostile/cpu-limit.ts';

// biome-ignore format: a table
test.each([
  ['/news/*',                  'https://example.com/news/a/b',      true],
  ['/news/*',                  'https://example.com/news',          false],
  ['/news/*',                  'https://example.com/old/news/a',    false],
  ['/',                        'https://example.com/',              true],
  ['/*sort=*',                 'https://example.com/a?x=1&sort=2',  true],
  ['*.pdf',                    'https://example.com/a.pdf',         true],
  ['*.pdf',                    'https://example.com/a.pdf?x',       false],
  ['*',                        'https://example.com/',              true],
  ['https://*.example.com/*',  'https://www.example.com/a',         true],
  ['https://*.example.com/*',  'https://example.com/a',             false],
  ['/a.c',                     'https://example.com/abc',           false],
  ['/a[bc]?',                  'https://example.com/a[bc]?',        true],
  ['/A',                       'https://example.com/a',             false],
  ['/café/*',                  'https://example.com/caf%C3%A9/a',   true],
  ['*/caf%c3%a9/?q=a b',       'https://example.com/caf%C3%A9/?q=a%20b', true],
  ['/~a/*',                    'https://example.com/%7Ea/b',        true],
  ['/a%2Fb',                   'https://example.com/a/b',           false],
  ['https://bücher.example/*', 'https://xn--bcher-kva.example/a',    true],
  ['http://*.BÜCHER.Example:8080/ü', 'http://www.xn--bcher-kva.example:8080/%C3%BC', true],
  ['*://bücher.example/*',     'http://xn--bcher-kva.example/a',    true],
  ['https://example.com/Ä',    'https://example.com/%C3%A4',        false],
  ['https://*',                'https://example.com/Ä',             true],
  ['https://[::1]/*',          'https://[::1]/a',                   true],
  ['https://127.0.0.1:80*',    'https://127.0.0.1:8080/',           true],
  ['/\ud800*',                 'https://example.com/%EF%BF%BDa',    true],
])('%s matches %s: %s', (pattern, href, matches) => {
  expect(isUrlPattern(pattern)).toBe(true);
  expect(matchesUrl(pattern, href)).toBe(matches);
});

test.each(['news/*', 'example.com/*', '', 'ftp://a/*'])('%j would never match a URL', (pattern) => {
  expect(isUrlPattern(pattern)).toBe(false);
});

test('a pattern matches what the equivalent regular expression matches', () => {
  const letters = (extra: string) => fc.string({ unit: fc.constantFrom(...'ab/', ...extra), maxLength: 12 });
  fc.assert(
    fc.property(letters('*'), letters(''), (pattern, text) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
      expect(matchesGlob(pattern, text)).toBe(expression.test(text));
    }),
    { numRuns: 5_000 },
  );
});

test('no pattern takes long, whatever the URL', () => {
  expectCpuBelow(2, () => {
    expect(matchesGlob(`${'*a'.repeat(2_000)}b`, 'a'.repeat(8_000))).toBe(false);
    expect(matchesGlob(`*${'a'.repeat(4_000)}b`, 'a'.repeat(8_000))).toBe(false);
  });
});
