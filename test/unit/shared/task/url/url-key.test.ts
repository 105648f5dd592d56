import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isProblem, readUrl } from '../../../../../shared/task/url/url.ts';
import { URL_KEY_RULES, type UrlKeyRule, urlKeyOf } from '../../../../../shared/task/url/url-key.ts';

// biome-ignore format: a table
test.each<[UrlKeyRule, string, string]>([
  ['no-www',            'http://www.example.com/a',            'http://example.com/a'],
  ['no-www',            'https://u:p@www.example.com:8443/',   'https://u:p@example.com:8443/'],
  ['no-www',            'http://www.www.example.com/',         'http://example.com/'],
  ['no-www',            'http://www.www.com/',                 'http://www.com/'],
  ['no-www',            'http://www.com/',                     'http://www.com/'],
  ['no-www',            'http://wwww.example.com/www.x.y/',    'http://wwww.example.com/www.x.y/'],
  ['no-trailing-slash', 'http://example.com/a/',               'http://example.com/a'],
  ['no-trailing-slash', 'http://example.com/a/?b/',            'http://example.com/a?b/'],
  ['no-trailing-slash', 'http://example.com/',                 'http://example.com/'],
  ['no-tracking',       'http://example.com/?utm_source=x&a=1&gclid=2', 'http://example.com/?a=1'],
  ['no-tracking',       'http://example.com/?fbclid=1',        'http://example.com/'],
  ['no-tracking',       'http://example.com/?utm=1&id=gclid',  'http://example.com/?utm=1&id=gclid'],
  ['no-tracking',       'http://example.com/?a=1&utm_term=b=c', 'http://example.com/?a=1'],
  ['no-tracking',       'http://example.com/?',                'http://example.com/?'],
  ['no-session',        'http://example.com/t.php?t=1&sid=0123456789abcdef0123456789abcdef', 'http://example.com/t.php?t=1'],
  ['no-session',        'http://example.com/?PHPSESSID=q1w2e3r4t5y6u7i8o9p0a1s2d3', 'http://example.com/'],
  ['no-session',        'http://example.com/a;jsessionid=1F2E.node1?b=1', 'http://example.com/a?b=1'],
  ['no-session',        'http://example.com/(S(lit3py55t21z5v55vlm25s55))/a.aspx', 'http://example.com/a.aspx'],
  ['no-session',        'http://example.com/?sid=1234&s=lamp&id=sid&session=morning', 'http://example.com/?sid=1234&s=lamp&id=sid&session=morning'],
  ['no-session',        'http://example.com/?s=incomprehensibilities',   'http://example.com/?s=incomprehensibilities'],
  ['sort-query',        'http://example.com/?b=1&a=2&b=0',     'http://example.com/?a=2&b=1&b=0'],
  ['sort-query',        'http://example.com/?b&&a=',           'http://example.com/?a=&b'],
  ['sort-query',        'http://example.com/?1750,4',          'http://example.com/?1750,4'],
])('with rule %s, %s is compared as %s', (rule, url, key) => {
  expect(urlKeyOf(url, [rule])).toBe(key);
  expect(urlKeyOf(url)).toBe(url);
});

// biome-ignore format: a table
test.each<[UrlKeyRule, string]>([
  ['no-www',            'https://example.com/shop/?size=2&utm_medium=mail&colour=red'],
  ['no-trailing-slash', 'https://www.example.com/shop?size=2&utm_medium=mail&colour=red'],
  ['no-tracking',       'https://www.example.com/shop/?size=2&colour=red'],
  ['sort-query',        'https://www.example.com/shop/?colour=red&size=2&utm_medium=mail'],
])('rule %s changes nothing that is left to other rules', (rule, key) => {
  expect(urlKeyOf('https://www.example.com/shop/?size=2&utm_medium=mail&colour=red', [rule])).toBe(key);
});

test('rules work together', () => {
  const url = 'https://www.example.com/shop/?size=2&utm_medium=mail&colour=red';
  expect(urlKeyOf(url, URL_KEY_RULES)).toBe('https://example.com/shop?colour=red&size=2');
});

test('the key of any URL is a URL, and its own key', () => {
  const url = fc.webUrl({ withQueryParameters: true, withFragments: false });
  fc.assert(
    fc.property(url, fc.subarray([...URL_KEY_RULES]), (text, rules) => {
      const read = readUrl(text);
      if (isProblem(read)) return;
      const key = urlKeyOf(read.canonical, rules);
      expect(isProblem(readUrl(key))).toBe(false);
      expect(urlKeyOf(key, rules)).toBe(key);
    }),
    { numRuns: 2_000 },
  );
});
