import { expect, test } from 'vitest';
import { SitemapParser } from '../../../../../shared/task/sitemap/sitemap.ts';
import type { SitemapEntry } from '../../../../../shared/task/sitemap/sitemap-entry.ts';
import { readListedUrl } from '../../../../../shared/task/url/url.ts';

const LOC = 'https://example.com/a';

function parse(text: string, { anyText = false, step = text.length } = {}) {
  const parser = new SitemapParser({ anyText });
  const entries: SitemapEntry[] = [];
  for (let at = 0; at < text.length; at += step) entries.push(...parser.write(text.slice(at, at + step)));
  entries.push(...parser.end());
  const { kind, truncated, isOver } = parser;
  return { kind, truncated, isOver, entries, locs: entries.map(({ loc }) => loc) };
}

const url = (inner: string): string => `<urlset><url>${inner}</url></urlset>`;

test.each<[string, string, string, string[]]>([
  ['a urlset', url(`<loc>${LOC}</loc>`), 'urlset', [LOC]],
  ['an index', `<sitemapindex><sitemap><loc>${LOC}</loc></sitemap></sitemapindex>`, 'index', [LOC]],
  ['RSS 2.0', `<rss><channel><link>x</link><item><link>${LOC}</link></item></channel></rss>`, 'feed', [LOC]],
  ['RSS 1.0', `<rdf:RDF><image><url>x</url></image><item><link>${LOC}</link></item></rdf:RDF>`, 'feed', [LOC]],
  [
    'Atom',
    `<feed><link href="x"/><entry><link rel="edit" href="y"/><link href="${LOC}"/></entry></feed>`,
    'feed',
    [LOC],
  ],
  ['an RSS item with only a guid', `<rss><item><guid>${LOC}</guid></item></rss>`, 'feed', [LOC]],
  ['an RSS item whose guid is no URL', '<rss><item><guid>tag:1</guid></item></rss>', 'feed', []],
  [
    'a JSON Feed',
    JSON.stringify({ items: [{ url: LOC }], version: 'https://jsonfeed.org/version/1.1' }),
    'feed',
    [LOC],
  ],
  ['other JSON', JSON.stringify({ items: [{ url: LOC }], version: '1.1' }), 'unknown', []],
  ['half a JSON Feed', `{"version": "https://jsonfeed.org/version/1", "items": [{"url": "${LOC}"}`, 'feed', [LOC]],
  ['a JSON Feed without an item yet', '{"version": "https://jsonfeed.org/version/1", "items": [{"url"', 'unknown', []],
  ['a list', `# pages\n\n ${LOC} \r\nno url`, 'text', [LOC, 'no url']],
  ['an HTML page', `<!DOCTYPE html><html><a href="${LOC}">a</a></html>`, 'html', []],
  ['an XHTML page', `<?xml version="1.0"?><html xmlns="x"><url><loc>${LOC}</loc></url></html>`, 'html', []],
  ['an empty document', '', 'empty', []],
  ['a byte order mark and blank lines', '\ufeff\n \r\n', 'empty', []],
  ['prose', 'this is no sitemap', 'unknown', []],
  ['XML of another vocabulary', '<opml><outline url="x"/></opml>', 'unknown', []],
  ['an unknown root around url entries', `<root><url><loc>${LOC}</loc></url></root>`, 'urlset', [LOC]],
  ['a root named like a method', `<constructor><url><loc>${LOC}</loc></url></constructor>`, 'urlset', [LOC]],
  [
    'a sitemap after a PHP warning',
    `Warning: x in y.php\n<?xml version="1.0"?>${url(`<loc>${LOC}</loc>`)}`,
    'urlset',
    [LOC],
  ],
])('a document is recognised by its content: %s', (_, text, kind, locs) => {
  expect(parse(text)).toMatchObject({ kind, locs });
});

test.each<[string, string]>([
  ['comments and CDATA inside', `<loc>https://exam<!-- x -->ple<![CDATA[.com/]]>a</loc>`],
  ['white space of any kind around it', '<loc>\u00a0\n https://example.com/a \u2003</loc>'],
  ['an element inside', `<loc><url>${LOC}</url></loc>`],
  ['a namespace prefix', `<s:loc>${LOC}</s:loc>`],
  ['upper case', `<LOC>${LOC}</LOC>`],
  ['no end tag of its own', `<loc>${LOC}`],
  ['no loc at all', LOC],
])('a loc with %s is read', (_, inner) => {
  const text = inner.includes('<s:') ? `<s:urlset><s:url>${inner}</s:url></s:urlset>` : url(inner);
  expect(parse(text).locs).toEqual([LOC]);
});

// biome-ignore format: a table
test.each<[string, string]>([
  ['WordPress',                 '<updated>2026-11-20T10:00:00Z</updated><published>2020-01-01T10:00:00Z</published>'],
  ['Blogger',                   '<published>2020-01-01T10:00:00Z</published><updated>2026-11-20T10:00:00Z</updated>'],
  ['an invalid published date', '<updated>2026-11-20T10:00:00Z</updated><published>long ago</published>'],
])('the lastmod of an Atom entry is its updated date, wherever its published date stands: %s', (_, dates) => {
  const { entries } = parse(`<feed><entry><link href="${LOC}"/>${dates}</entry></feed>`);
  expect(entries).toEqual([{ loc: LOC, lastmod: '2026-11-20T10:00:00Z', to: 'page' }]);
});

test('a JSON Feed item is at its url, otherwise at its external_url, otherwise at an id that is a URL', () => {
  const items = [
    { id: '1', url: ' /b?x=1 ', external_url: 'https://other.test/', date_published: '2025', date_modified: '2026' },
    { url: '', external_url: 'https://other.test/', date_published: '2025' },
    { id: LOC, url: 5 },
    { id: 'tag:1' },
    null,
    'x',
  ];
  const parser = new SitemapParser({ url: 'https://example.com/feed.json' });
  parser.write(JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items }));
  expect(parser.end()).toEqual([
    { loc: 'https://example.com/b?x=1', lastmod: '2026', to: 'page' },
    { loc: 'https://other.test/', lastmod: '2025', to: 'page' },
    { loc: LOC, lastmod: undefined, to: 'page' },
  ]);
});

// biome-ignore format: a table
test.each([
  ['in a string',          `{"url": "${LOC}", "title": "}]} \\" {["}, {"url": "https://exa`, [LOC]],
  ['after an item',        `{"url": "${LOC}", "authors": [{"name": "A"}]},`,                [LOC]],
  ['in a list in an item', `{"url": "${LOC}"}, {"url": "x", "tags": ["a", "b"`,            [LOC]],
  ['after its items',      `{"url": "${LOC}"}], "hubs": [{"type": "x"}, {"ty`,             [LOC]],
])('a JSON Feed that is cut off %s gives its complete items', (_, items, locs) => {
  const { truncated, ...read } = parse(`{"version": "https://jsonfeed.org/version/1.1", "items": [${items}`);
  expect([read.kind, read.locs, truncated]).toEqual(['feed', locs, true]);
});

test('a JSON Feed longer than 8 MiB gives the items before that limit', () => {
  const parser = new SitemapParser();
  parser.write(`{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "${LOC}"}, {"url": "`);
  for (let at = 0; at < 9; at++) parser.write('a'.repeat(2 ** 20));
  expect(parser.end().map(({ loc }) => loc)).toEqual([LOC]);
  expect([parser.isOver, parser.kind, parser.truncated]).toEqual([true, 'feed', true]);
});

test('reading JSON ends after 8 MiB', () => {
  const parser = new SitemapParser();
  parser.write('{"version": "https://jsonfeed.org/version/1.1", "items": [');
  for (let at = 0; at < 7; at++) parser.write(' '.repeat(2 ** 20));
  expect(parser.isOver).toBe(false);
  parser.write(' '.repeat(2 ** 20));
  expect([parser.isOver, parser.end(), parser.kind]).toEqual([true, [], 'unknown']);
});

test('a JSON Feed gives at most 10 000 items, and one with more is reported as truncated', () => {
  const itemsOf = (count: number) => {
    const parser = new SitemapParser();
    const items = Array.from({ length: count }, () => ({ url: LOC }));
    parser.write(JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items }));
    return [parser.end().length, parser.truncated];
  };
  expect([itemsOf(10_000), itemsOf(10_001)]).toEqual([
    [10_000, false],
    [10_000, true],
  ]);
});

test('entities are decoded, and an ampersand that begins none stays', () => {
  expect(parse(url('<loc>https://example.com/?a=1&amp;b=2&#38;c=3&d=4</loc>')).locs).toEqual([
    'https://example.com/?a=1&b=2&c=3&d=4',
  ]);
});

test('entities that the document declares are never expanded', () => {
  const text = `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${url('<loc>https://example.com/&e;</loc>')}`;
  expect(parse(text).locs).toEqual(['https://example.com/']);
});

test('the loc of an image or a video is no page', () => {
  const image = '<image:image><image:loc>https://example.com/i.jpg</image:loc></image:image>';
  const broken = '<image:loc>https://example.com/i.jpg</image:loc>';
  expect(parse(url(`${image}<loc>${LOC}</loc>${broken}`)).locs).toEqual([LOC]);
});

test('lastmod is passed on as written, and belongs to its entry alone', () => {
  const text = `<urlset><url><lastmod> 2004-13 </lastmod><loc>${LOC}</loc></url><url><loc>${LOC}</loc></url></urlset>`;
  expect(parse(text).entries).toEqual([
    { loc: LOC, lastmod: '2004-13', to: 'page' },
    { loc: LOC, lastmod: undefined, to: 'page' },
  ]);
});

test('several locs in one entry are several entries, and entries need no end tag', () => {
  expect(parse('<urlset><url><loc>x:1</loc><loc>x:2</loc><url><loc>x:3</loc></urlset>').locs).toEqual([
    'x:1',
    'x:2',
    'x:3',
  ]);
});

test.each<[string, string, string[]]>([
  ['within a loc', '<urlset><url><loc>x:1</loc></url><url><loc>x:2', ['x:1']],
  ['within the end tag of a loc', '<urlset><url><loc>x:1</lo', ['x:1']],
  ['after a loc', '<urlset><url><loc>x:1</loc><lastm', ['x:1']],
  ['within an entry that has no loc', '<urlset><url>https://example.com/trunc', []],
  ['after its last entry', '<urlset><url><loc>x:1</loc></url>', ['x:1']],
])('a document that is cut off %s gives its complete locations and is reported as truncated', (_, text, locs) => {
  expect(parse(text)).toMatchObject({ kind: 'urlset', truncated: true, locs });
});

test('a complete document is not truncated, whatever comes after it', () => {
  expect(parse(`${url(`<loc>${LOC}</loc>`)}<script>x`)).toMatchObject({ truncated: false, locs: [LOC] });
});

test('a loc that is too long for a URL is cut, but stays too long', () => {
  const [loc = ''] = parse(url(`<loc>https://example.com/${'x'.repeat(20_000)}</loc>`), { step: 1_000 }).locs;
  expect(loc.length).toBeGreaterThan(8_192);
  expect(loc.length).toBeLessThan(10_000);
});

test.each([
  [
    'in many pieces behind white space',
    url(`<loc>\n${' '.repeat(100)}https://example.com/${'?&amp;a'.repeat(3_000)}</loc>`),
  ],
  ['in many pieces, without a loc', url(`\n${' '.repeat(100)}https://example.com/${'?&amp;a'.repeat(3_000)}`)],
  [
    'in a JSON Feed',
    JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items: [{ url: `${LOC}${'x'.repeat(20_000)}` }] }),
  ],
])('a URL that is too long is not cut to one that could be fetched: %s', (_, document) => {
  const [loc = ''] = parse(document).locs;
  expect(loc.length).toBeGreaterThan(8_192);
  expect(readListedUrl(loc)).toHaveProperty('problem');
});

test('elements nested deeper than 64 levels are skipped', () => {
  const deep = Array.from({ length: 20_000 }, (_, index) => `x${index % 2}`);
  const nested = `<${deep.join('><')}><loc>no</loc></${deep.toReversed().join('></')}>`;
  expect(parse(`<urlset><url><loc>${LOC}</loc>${nested}</url><url><loc>${LOC}</loc></url></urlset>`).locs).toEqual([
    LOC,
    LOC,
  ]);
});

test('reading ends as soon as a document is known to be HTML', () => {
  const parser = new SitemapParser();
  parser.write('<!doctype html><html>');
  expect(parser.isOver).toBe(true);
});

test('reading a document without a known root ends after a megabyte', () => {
  const parser = new SitemapParser();
  for (let i = 0; i < 1_100; i++) parser.write(`<x>${'y'.repeat(1_000)}</x>`);
  expect(parser).toMatchObject({ isOver: true, kind: 'unknown' });
});

test('any text is read as a list if it was given as a file', () => {
  expect(parse('example.com\nhttps://example.com/a', { anyText: true })).toMatchObject({
    kind: 'text',
    locs: ['example.com', LOC],
  });
});

test.each([1, 2, 3, 7, 100])('a document reads the same in pieces of %i characters', (step) => {
  const text = `\ufeff\n<?xml version="1.0"?><!DOCTYPE x><urlset xmlns:i="y"><url><loc>https://example.com/?a&amp;b<![CDATA[&]]></loc>
    <i:image a='1' b="2"><i:loc>z</i:loc></i:image><lastmod>2024</lastmod></url><!-- <url> --><url><loc>x:2</loc></url></urlset>`;
  expect(parse(text, { step })).toEqual(parse(text));
  expect(parse(text).locs).toEqual(['https://example.com/?a&b&', 'x:2']);
});
