import { expect, test } from 'vitest';
import { sitemapsIn } from '../../../../shared/task/robots-sitemaps.ts';

const BASE = 'https://example.com/robots.txt';

test.each<[string, string, string[]]>([
  [
    'in any group, and none',
    'User-agent: a\nSitemap: https://x.com/1\nDisallow: /\nsitemap: https://x.com/2',
    ['https://x.com/1', 'https://x.com/2'],
  ],
  ['in any case, with blanks', '  SiteMap \t:   https://x.com/1   \r\n', ['https://x.com/1']],
  ['relative', 'Sitemap: /s.xml', ['https://example.com/s.xml']],
  ['each once', 'Sitemap: /s.xml\nSitemap: https://example.com/s.xml', ['https://example.com/s.xml']],
  ['but none that is empty', 'Sitemap:\nDisallow: /x', []],
  ['but none that is a comment', '# Sitemap: /s.xml', []],
  ['but none that no fetcher takes', 'Sitemap: ftp://x.com/1\nSitemap: https://x.com/\ufffd', []],
])('the sitemaps of a robots.txt are found %s', (_, robots, sitemaps) => {
  expect(sitemapsIn(robots, BASE)).toEqual(sitemaps);
});

test('a robots.txt of blank lines takes no time', () => {
  const startedAt = performance.now();
  sitemapsIn(`${'\n'.repeat(500_000)}${' '.repeat(500_000)}`, BASE);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
