import { expect, test } from 'vitest';
import { sitemapsIn, wholeLinesLength } from '../../../../../shared/task/robots/robots-sitemaps.ts';

const BASE = 'https://example.com/robots.txt';

test.each<[string, string, string[]]>([
  [
    'in any group and outside of groups',
    'User-agent: a\nSitemap: https://x.com/1\nDisallow: /\nsitemap: https://x.com/2',
    ['https://x.com/1', 'https://x.com/2'],
  ],
  ['in any case and with blanks', '  SiteMap \t:   https://x.com/1   \r\n', ['https://x.com/1']],
  ['relative', 'Sitemap: /s.xml', ['https://example.com/s.xml']],
  ['after a byte order mark', '\ufeffSitemap: /s.xml', ['https://example.com/s.xml']],
  [
    'with something after them',
    'Sitemap: /s.xml # ours\nSitemap: /t.xml\u00a0x',
    ['https://example.com/s.xml', 'https://example.com/t.xml'],
  ],
  ['after lines that end in CR', 'User-agent: *\rSitemap: /s.xml\r', ['https://example.com/s.xml']],
  ['without a colon', 'Sitemap https://x.com/1\nSitemap\thttps://x.com/2', ['https://x.com/1', 'https://x.com/2']],
  ['with a hyphen', 'Site-map: /s.xml\nsite-Map : /t.xml', ['https://example.com/s.xml', 'https://example.com/t.xml']],
  ['within marks', 'Sitemap: </s.xml>\nSitemap: "/t.xml"', ['https://example.com/s.xml', 'https://example.com/t.xml']],
  [
    'before a tag',
    'Sitemap: https://x.com/1<br>\r\nSitemap: https://x.com/2<br />',
    ['https://x.com/1', 'https://x.com/2'],
  ],
  ['but not in prose', 'Sitemap is at https://x.com/1\nOur sitemap: /s.xml\nSitemaps: /s.xml\nSitemap /s.xml', []],
  ['each once', 'Sitemap: /s.xml\nSitemap: https://example.com/s.xml', ['https://example.com/s.xml']],
  ['but none that is empty', 'Sitemap:\nDisallow: /x', []],
  ['but none that is a comment', '# Sitemap: /s.xml', []],
  ['but none that cannot be fetched', 'Sitemap: ftp://x.com/1\nSitemap: https://x.com/\ufffd', []],
])('the sitemaps of a robots.txt are found %s', (_, robots, sitemaps) => {
  expect(sitemapsIn(robots, BASE).map(({ href }) => href)).toEqual(sitemaps);
});

test.each(['\n', '\r', '\r\n'])('of a file with lines that end with %j, one that was cut off is left out', (end) => {
  const whole = `User-agent: *${end}Disallow: /a${end}`;
  for (const file of [`${whole}Disallow: /`, whole]) {
    expect(wholeLinesLength(file)).toBe(whole.length);
    expect(wholeLinesLength(Buffer.from(file))).toBe(whole.length);
  }
  expect(wholeLinesLength('Disallow: /')).toBe(0);
});
