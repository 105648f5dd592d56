import { describe, expect, test } from 'vitest';
import { SitemapParser } from '../../../../../shared/task/sitemap/sitemap.ts';
import type { SitemapEntry } from '../../../../../shared/task/sitemap/sitemap-entry.ts';

const URL_OF_IT = 'https://user:secret@example.com/maps/s.xml?v=1';

/** @param url null for a file */
function locsOf(text: string, url: string | null = URL_OF_IT, step = text.length): string[] {
  const parser = new SitemapParser(url === null ? {} : { url });
  const entries: SitemapEntry[] = [];
  for (let at = 0; at < text.length; at += step) entries.push(...parser.write(text.slice(at, at + step)));
  entries.push(...parser.end());
  return entries.map(({ loc }) => loc);
}

// biome-ignore format: a table
const REFERENCES: readonly (readonly [string, string])[] = [
  ['https://other.test/a#b',       'https://other.test/a#b'],
  ['HTTP://Other.test/a',          'HTTP://Other.test/a'],
  ['/a',                           'https://example.com/a'],
  ['/my file.html',                'https://example.com/my%20file.html'],
  ['a',                            'https://example.com/maps/a'],
  ['a/b?c',                        'https://example.com/maps/a/b?c'],
  ['../a',                         'https://example.com/a'],
  ['./a',                          'https://example.com/maps/a'],
  ['?page=2',                      'https://example.com/maps/s.xml?page=2'],
  ['//other.test/a',               'https://other.test/a'],
  ['/é#top',                       'https://example.com/%C3%A9'],
  // These can't be resolved, or would resolve to something that was not meant. They stay as they are, and are malformed.
  ['//',                           '//'],
  [`/${'a'.repeat(8_190)}`,        `/${'a'.repeat(8_190)}`],
  ['mailto:a@example.com',         'mailto:a@example.com'],
  ['javascript:void(0)',           'javascript:void(0)'],
  ['http://',                      'http://'],
  ['no url at all',                'no url at all'],
  ['www.other.test/a',             'www.other.test/a'],
  ['example.com/a',                'example.com/a'],
  ['example.com',                  'example.com'],
];

describe.each<[string, (loc: string) => string]>([
  ['a sitemap', (loc) => `<urlset><url><loc>${loc}</loc></url></urlset>`],
  ['an index', (loc) => `<sitemapindex><sitemap><loc>${loc}</loc></sitemap></sitemapindex>`],
  ['RSS 2.0', (loc) => `<rss><channel><item><link>${loc}</link></item></channel></rss>`],
  ['RSS 1.0', (loc) => `<rdf:RDF><item><link>${loc}</link></item></rdf:RDF>`],
  ['Atom', (loc) => `<feed><entry><link href="${loc}"/></entry></feed>`],
])('in %s', (_, documentOf) => {
  test.each(REFERENCES)('the location %s is resolved to %s', (written, loc) => {
    expect(locsOf(documentOf(written))).toEqual([loc]);
  });

  test('without a known address, locations stay as they are', () => {
    expect(locsOf(documentOf('/a'), null)).toEqual(['/a']);
  });
});

test('the lines of a list stay as they are', () => {
  expect(locsOf('https://example.com/a\n/b\nc')).toEqual(['https://example.com/a', '/b', 'c']);
});

// biome-ignore format: a table
test.each([
  ['of the feed',                  '<feed xml:base="https://a.test/x/"><entry><link href="b"/></entry></feed>',                                ['https://a.test/x/b']],
  ['in single quotes, odd case',   `<FEED XML:BASE='https://a.test/x/'><entry><link href='b'/></entry></FEED>`,                               ['https://a.test/x/b']],
  ['that is relative',             '<feed xml:base="/x/"><entry xml:base="y/"><link href="b" xml:base="z/"/></entry></feed>',                 ['https://example.com/x/y/z/b']],
  ['of an entry, for it alone',    '<feed><entry xml:base="/x/"><link href="a"/></entry><entry><link href="b"/></entry></feed>',               ['https://example.com/x/a', 'https://example.com/maps/b']],
  ['of a link, for it alone',      '<feed><entry><link rel="self" href="a" xml:base="/x/"/><link href="b"/></entry></feed>',                  ['https://example.com/maps/b']],
  ['after the href',               '<feed><entry><link href="b" xml:base="/x/"/></entry></feed>',                                              ['https://example.com/x/b']],
  ['of other elements (ignored)',  '<feed><entry><content xml:base="/x/"><b xml:base="/y/">t</b></content><link href="b"/></entry></feed>',    ['https://example.com/maps/b']],
  ['within the link (ignored)',    '<feed><entry><link href="b"><i href="c" xml:base="/x/"/></link></entry></feed>',                           ['https://example.com/maps/b']],
  ['of an element around entries', '<feed><group xml:base="/x/"><entry><link href="a"/></entry></group><entry><link href="b"/></entry></feed>', ['https://example.com/x/a', 'https://example.com/maps/b']],
  ['of an entry left open',        '<feed><entry xml:base="/x/"><link href="a"/><entry><link href="b"/></feed>',                               ['https://example.com/x/a', 'https://example.com/maps/b']],
  ['with an entity',               '<feed xml:base="/x/?a=1&amp;b"><entry><link href=""/><link href="?c"/></entry></feed>',                    ['https://example.com/x/?c']],
  ['given twice (the first)',      '<feed><entry xml:base="/x/" xml:base="/y/"><link href="a"/></entry><entry><link href="b"/></entry></feed>', ['https://example.com/x/a', 'https://example.com/maps/b']],
  ['that is empty (ignored)',      '<feed xml:base=""><entry><link href="b"/></entry></feed>',                                                 ['https://example.com/maps/b']],
  ['of RSS',                       '<rss xml:base="/x/"><channel><item><link>b</link></item></channel></rss>',                                 ['https://example.com/x/b']],
  ['of a sitemap (ignored)',       '<urlset xml:base="/x/"><url><loc>b</loc></url></urlset>',                                                ['https://example.com/maps/b']],
  ['with credentials',             '<feed xml:base="https://u:p@a.test/"><entry><link href="b"/></entry></feed>',                              ['https://a.test/b']],
  ['of another scheme (ignored)',  '<feed xml:base="javascript:x"><entry xml:base="data:,x"><link href="b"/></entry></feed>',                  ['https://example.com/maps/b']],
  ['that is no URL (ignored)',     '<feed xml:base="https://["><entry><link href="b"/></entry></feed>',                                        ['https://example.com/maps/b']],
  ['that is too long (ignored)',   `<feed xml:base="/${'x'.repeat(2_100)}/"><entry><link href="b"/></entry></feed>`,                           ['https://example.com/maps/b']],
])('locations of a feed follow an xml:base %s', (_, feed, locs) => {
  expect(locsOf(feed)).toEqual(locs);
  expect(locsOf(feed, URL_OF_IT, 1)).toEqual(locs);
});

test('an absolute xml:base counts in a feed without a known address', () => {
  expect(
    locsOf('<feed xml:base="https://a.test/x/"><entry xml:base="y/"><link href="b"/></entry></feed>', null),
  ).toEqual(['https://a.test/x/y/b']);
  expect(locsOf('<feed xml:base="x/"><entry><link href="b"/></entry></feed>', null)).toEqual(['b']);
});

test('locations are not resolved against a document address that is too long', () => {
  const url = `https://example.com/${'x'.repeat(3_000)}/s.xml`;
  expect(locsOf('<urlset><url><loc>a</loc></url></urlset>', url)).toEqual(['a']);
});

test('an external entity is left out before its location is resolved', () => {
  const doctype = '<!DOCTYPE x [<!ENTITY e SYSTEM "e"><!ENTITY i "/x">]>';
  const text = `${doctype}<urlset><url><loc>&e;/a</loc></url><url><loc>&i;/b</loc></url></urlset>`;
  expect(locsOf(text)).toEqual(['https://example.com/a']);
});
