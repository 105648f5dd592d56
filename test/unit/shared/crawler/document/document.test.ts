import { expect, test } from 'vitest';
import { acceptsText } from '../../../../../shared/crawler/crawler.ts';
import { readDocument } from '../../../../../shared/crawler/document/document.ts';
import { mediaTypeOf } from '../../../../../shared/crawler/document/media-type.ts';
import { readText } from '../../../../../shared/crawler/document/readable-text.ts';
import { MAX_LINKS } from '../../../../../shared/task/task/page-limits.ts';
import { expectCpuBelow } from '../../../../support/hostile/cpu-limit.ts';

const URL_OF_PAGE = 'http://example.com/dir/page';

test.each([
  ['<title>Plain</title>', 'Plain'],
  ['<TITLE>  Two \n  lines  </TITLE>', 'Two lines'],
  ['<title>Fish &amp; chips &#8364;</title>', 'Fish & chips €'],
  ['<title>First</title><title>Second</title>', 'First'],
  ['<svg><title>A picture</title></svg><title>The page</title>', 'The page'],
  ['<template><title>A part</title></template><title>The page</title>', 'The page'],
  ['<title>No\0thing <a href="/1">to click</a></title x=">">', 'No\ufffdthing <a href="/1">to click</a>'],
  ['<title></title>', null],
  ['<h1>No title</h1>', null],
  ['<title>Never closed', 'Never closed'],
])('%s has the title %s', (html, title) => {
  expect(readDocument(html, URL_OF_PAGE).title).toBe(title);
});

test('links are absolute, unique, in order, without fragments, and only those that can be fetched', () => {
  const html = `
    <a href="a">1</a> <a href='/b?x=1&amp;y=2'>2</a> <A HREF=c>3</A> <area href="//other.com/">
    <a href="a#part">again</a> <a href="#top">here</a> <a href="">itself</a> <a href=" d ">spaces</a>
    <a href="mailto:x@y.z">mail</a> <a href="javascript:void(0)">js</a> <a name="x">none</a> <link href="style.css">`;
  expect(readDocument(html, URL_OF_PAGE).links).toEqual([
    'http://example.com/dir/a',
    'http://example.com/b?x=1&y=2',
    'http://example.com/dir/c',
    'http://other.com/',
    'http://example.com/dir/d',
  ]);
});

// biome-ignore format: a table
test.each([
  ['the first base counts',                       '<base href="/other/"><base href="/ignored/">',           '/other/x'],
  ['a base without an href is ignored',           '<base target="_top"><base href="/other/">',              '/other/x'],
  ['a base after the link counts',                '<a href="x">x</a><base href="/other/">',                 '/other/x'],
  ['a base of data: is ignored',                  '<base href="data:text/html,x/">',                        '/dir/x'],
  ['a base of javascript: is ignored',            '<base href="javascript:x/">',                            '/dir/x'],
  ['a base of file: is ignored',                  '<base href="file:///etc/">',                             '/dir/x'],
  ['a base of about: is ignored, as is the next', '<base href="about:blank"><base href="/ignored/">',       '/dir/x'],
  ['a base that is no URL is ignored',            '<base href="http://[/">',                                '/dir/x'],
  ['a base with credentials is ignored',          '<base href="http://user:secret@example.com/other/">',    '/dir/x'],
  ['a base in SVG is ignored',                    '<svg><base href="/other/"></svg>',                       '/dir/x'],
  ['a base in a template is ignored',             '<template><base href="/other/"></template>',             '/dir/x'],
  ['a base of the maximum length counts',         `<base href="/${'a/'.repeat(1_014)}">`,                   `/${'a/'.repeat(1_014)}x`],
  ['a longer base is ignored',                    `<base href="/${'a/'.repeat(1_015)}">`,                   '/dir/x'],
])('links are relative to the page or its base: %s', (_, base, path) => {
  expect(readDocument(`${base}<a href="x">x</a>`, URL_OF_PAGE).links).toEqual([`http://example.com${path}`]);
});

// biome-ignore format: a table
test.each([
  ['a title in SVG that closes itself',        '<svg><title/></svg>'],
  ['a title in SVG that is never closed',      '<svg><title></svg>'],
  ['a style in SVG that closes itself',        '<svg><style/><path/></svg>'],
  ['a script in SVG that is never closed',     '<svg><script></svg>'],
  ['a style in MathML that closes itself',     '<math><style/></math>'],
  ['a textarea in SVG',                        '<svg><textarea></svg>'],
  ['an xmp in SVG',                            '<svg><xmp/></svg>'],
  ['SVG that a paragraph ends',                '<svg><style><p>'],
  ['SVG that the end of its box ends',         '<div><svg><style></div>'],
  ['SVG in MathML',                            '<math><annotation-xml><svg><title/></svg></annotation-xml></math>'],
  ['a CDATA section in HTML',                  '<![CDATA[ x > ]]'],
  ['a CDATA section in SVG',                   '<svg><![CDATA[ </svg><script> ]]></svg>'],
  ['a > in an attribute of an end tag',        '<p></p title="></p><script>">'],
  ['a > in an attribute of a title',           '<title>x</title x=">">'],
  ['a comment that is no more than its dashes', '<!--><!---><!--a--!>'],
  ['a script within a comment of a script',    '<script><!-- <script></script> <a href="/no"> --></script>'],
  ['a link in a style',                        '<style><a href="/no"></style>'],
  ['a link in a noframes',                     '<noframes><a href="/no"></noframes>'],
  ['a link in a template',                     '<template><a href="/no"></a><template></template><a href="/no"></a></template>'],
  ['an unclosed template in a template',       '<template><template><a href="/no"></a></template></template>'],
  ['a tag that never ends in a table',         '<table><td><select><option'],
  ['a select',                                 '<select><option>'],
  ['an attribute without a value',             '<a href><a href=>'],
  ['an equals sign as an attribute',           '<p =a="<a href=/no>">'],
])('markup before a link does not hide the link, unless it ends in an unfinished tag: %s', (_, before) => {
  expect(readDocument(`${before}<a href="/1">1</a>`, URL_OF_PAGE).links).toEqual(before.endsWith('option') ? [] : ['http://example.com/1']);
});

test('links in noscript, SVG and a declarative shadow root count', () => {
  const html = `<noscript><a href="/1"></a></noscript><svg><a href="/2"/><a xlink:href="/3"/><area href="/no"/></svg>
    <div><template shadowrootmode="open"><a href="/4"></a></template></div>`;
  expect(readDocument(html, URL_OF_PAGE).links).toEqual(
    ['1', '2', '3', '4'].map((name) => `http://example.com/${name}`),
  );
});

test('a frameset page has no links of its own, unless its body began first', () => {
  expect(readDocument('<frameset><a href="/1"></frameset><a href="/2">', URL_OF_PAGE).links).toEqual([]);
  expect(readDocument('text<frameset><a href="/1">', URL_OF_PAGE).links).toEqual(['http://example.com/1']);
});

test('in XHTML a self-closing element is complete', () => {
  const html = '<script src="x"/><title/><a href="/1"/>';
  expect(readDocument(html, URL_OF_PAGE, true).links).toEqual(['http://example.com/1']);
  expect(readDocument(html, URL_OF_PAGE).links).toEqual([]);
});

// biome-ignore format: a table
test.each([
  ['C0 controls and spaces around',   '\u0001\u001f /1\u0000'.slice(0, -1), '/1'],
  ['no-break and other wide spaces',  '\u00a0/1\u3000',                     '/dir/%C2%A0/1%E3%80%80'],
  ['U+0085',                          '/1\u0085',                           '/1%C2%85'],
  ['tabs and newlines inside',        '/a\tb\r\nc\n',                       '/abc'],
  ['NUL',                             '/a\u0000b',                          '/a%EF%BF%BDb'],
  ['a reference without semicolon',   '/?a=1&copy=2&amp;b&amp',             '/?a=1&copy=2&b&'],
  ['references to white space',       '&#9;/1&#x20;',                       '/1'],
  ['a space before the fragment',     '/1 #x',                              '/1%20'],
  ['backslashes',                     '\\\\other.com\\1',                   null],
  ['a second href attribute',         '/1" href="/2',                       '/1'],
])('links follow the standards for an href with %s', (_, href, path) => {
  expect(readDocument(`<a href="${href}">x</a>`, URL_OF_PAGE).links).toEqual([path === null ? 'http://other.com/1' : `http://example.com${path}`]);
});

const link = (length: number): string => `/${'x'.repeat(length - 'http://example.com/'.length)}`;

// biome-ignore format: a table
test.each<[string, string, links: number, truncated: string[]]>([
  ['a link of the maximum length',        `<a href="${link(2_048)}">`,                                                           1,       []],
  ['a longer link',                       `<a href="${link(2_049)}">`,                                                           0,       ['links']],
  ['a link with a longer fragment',       `<a href="/1#${'x'.repeat(60_000)}">`,                                                 1,       []],
  ['a link with a far too long fragment', `<a href="/1#${'x'.repeat(70_000)}">`,                                                 0,       ['links']],
  ['a longer link of data:',              `<a href="data:,${'x'.repeat(70_000)}">`,                                              0,       []],
  ['the maximum number of links',         numbered(10_000, (n) => `<a href="/${n}">`),                                           10_000,  []],
  ['one link more',                       numbered(10_001, (n) => `<a href="/${n}">`),                                           10_000,  ['links']],
  ['the same links again',                numbered(30_000, (n) => `<a href="/${n % 10_000}#${n}">`),                             10_000,  []],
  ['many links that lead nowhere',        numbered(20_000, (n) => `<a href="#${n}"><a href="mailto:${n}">`),                     0,       []],
  ['a MiB of links',                      numbered(512, (n) => `<a href="${link(2_045)}${100 + n}">`),                           512,     []],
  ['one link more than a MiB',            numbered(513, (n) => `<a href="${link(2_045)}${100 + n}">`),                           512,     ['links']],
  ['a MiB of links once resolved',        `<base href="${link(2_000)}/">${numbered(1_000, (n) => `<a href="${n}">`)}`,           523,     ['links']],
  ['a title of the maximum length',       `<title>${'x'.repeat(2_000)}</title>`,                                                 0,       []],
  ['a longer title',                      `<title>${'x'.repeat(2_001)}</title>`,                                                 0,       ['title']],
  ['a title of white space',              `<title>${' '.repeat(40_000)}x</title>`,                                               0,       ['title']],
  ['a canonical URL of the maximum length', `<link rel=canonical href="${link(2_048)}">`,                                         0,       []],
  ['a longer canonical URL',              `<link rel=canonical href="${link(2_049)}">`,                                          0,       ['canonical']],
])('links, title and canonical URL are limited, and what was cut is listed: %s', (_, html, links, truncated) => {
  const document = readDocument(html, URL_OF_PAGE);
  expect([document.links.length, document.truncated]).toEqual([links, truncated]);
});

function numbered(count: number, write: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => write(n)).join('\n');
}

test('a link counts as nofollow only if every occurrence of it is marked nofollow', () => {
  const html = `<a href="/a" rel="nofollow">1</a><a rel="external NOFOLLOW ugc" href="/b">2</a><area href="/c" rel=nofollow>
    <a href="/d" rel="nofollows">3</a><a href="/a">1 again</a><a href="/e">4</a><a href="/e" rel="nofollow">4 again</a>`;
  const { links, nofollow } = readDocument(html, URL_OF_PAGE);
  expect(links).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `http://example.com/${name}`));
  expect([...nofollow]).toEqual(['http://example.com/b', 'http://example.com/c']);
});

test('the next page of a list is named by a link, an area or the head, relative to the base', () => {
  const html = `<base href="/list/"><link rel="next prefetch" href="?p=2"><a rel="NEXT nofollow" href="b#top">b</a>
    <area href="c" rel=next><a href="d" rel="nextid">d</a><link rel="prev" href="e"><a rel=next>f</a>
    <link rel=next href=""><link rel=next href=" #top"><a rel=next href="#g">g</a>`;
  const { next, links } = readDocument(html, URL_OF_PAGE);
  expect([...next]).toEqual(['?p=2', 'b', 'c'].map((path) => `http://example.com/list/${path}`));
  expect(links, 'the head names no link').not.toContain('http://example.com/list/?p=2');
  const many = Array.from({ length: 99 }, (_, n) => `<a rel=next href="/${n}">`).join('');
  expect(readDocument(many, URL_OF_PAGE).next.size).toBe(10);
});

// biome-ignore format: a table
test.each([
  ['0; url=/en/',                   '/en/'],
  ['5',                             null],
  ['0;',                            null],
  ['0; url=',                       null],
  [' .5 , URL = en/x#top ',         '/dir/en/x'],
  ['0 /en/',                        '/en/'],
  ['3;/en/',                        '/en/'],
  [`0;url='/en/'; more`,            '/en/'],
  [`0;url=&quot;/en/&quot;`,        '/en/'],
  ['0;url=https://other.test/',     'https://other.test/'],
  ['0;urls/1',                      '/dir/urls/1'],
  ['url=/en/',                      null],
  ['0x;url=/en/',                   null],
  ['0;url=javascript:void(0)',      null],
  ['0;url=#top',                    null],
  ['60;url=/dir/page',              null],
  [`0;url=/${'x'.repeat(2_048)}`,   null],
])('a meta refresh of %j leads to %s', (content, path) => {
  const html = `<meta http-equiv="Refresh" content="${content}"><meta http-equiv=refresh content="0;url=/second">`;
  const first = readDocument(html.slice(0, html.indexOf('<meta', 1)), 'http://example.com/dir/page').refresh;
  expect(first).toBe(path === null ? null : new URL(path, 'http://example.com/').href);
});

test('the frames of a frameset are found, relative to the base; frames outside of one are ignored', () => {
  const html = `<base href="/api/"><title>API</title><frameset cols="20%,80%"><frameset><frame SRC="overview.html#top" name="a">
    <frame src="overview.html"><frame name=src></frameset><frame src="javascript:void(0)"><frame src="//other.test/">
    <noframes><a href="/plain.html">without frames</a><frame src="/no"></noframes></frameset>`;
  const { frames, links, title } = readDocument(html, URL_OF_PAGE);
  expect([frames, links, title]).toEqual([['http://example.com/api/overview.html', 'http://other.test/'], [], 'API']);
  expect(readDocument('<p>text<frame src="/1"><iframe src="/2"></iframe>', URL_OF_PAGE).frames).toEqual([]);
  const many = Array.from({ length: 999 }, (_, n) => `<frame src="/${n}">`).join('');
  expect(readDocument(`<frameset>${many}`, URL_OF_PAGE).frames).toHaveLength(100);
});

test('the first meta refresh with a URL counts, relative to the base; those in templates are ignored', () => {
  const html = `<template><meta http-equiv=refresh content="0;url=/0"></template><meta name=refresh content="0;url=/1">
    <meta http-equiv=refresh content=300><noscript><meta http-equiv=refresh content="0;url=2"></noscript><base href="/b/">
    <meta http-equiv=refresh content="0;url=/3">`;
  const { refresh, links } = readDocument(html, URL_OF_PAGE);
  expect([refresh, links]).toEqual(['http://example.com/b/2', []]);
});

test.each([
  ['<meta name="robots" content="noindex, nofollow">', true],
  ['<META CONTENT=none NAME=Robots />', true],
  ['<meta name="TrawlBot" content="nofollow">', true],
  ['<meta name="robots" content="noindex">', false],
  ['<meta name="googlebot" content="nofollow">', false],
  ['<meta name="description" content="nofollow">', false],
  ['<!-- <meta name="robots" content="nofollow"> -->', false],
])('%s forbids following links: %s', (html, isNofollow) => {
  expect(readDocument(html, URL_OF_PAGE).isNofollow).toBe(isNofollow);
});

test.each([
  ['<link rel="canonical" href="/real#top">', 'http://example.com/real'],
  ['<link href=" https://www.example.com/ " rel="Canonical">', 'https://www.example.com/'],
  ['<base href="/b/"><link rel=canonical href="c"><link rel=canonical href="d">', 'http://example.com/b/c'],
  ['<link rel="stylesheet" href="/s.css">', null],
  ['<link rel="canonical" href="javascript:void(0)">', null],
])('%s names %s as its canonical URL', (html, canonical) => {
  expect(readDocument(html, URL_OF_PAGE).canonical).toBe(canonical);
});

test('the readable text leaves out content that is not for readers', () => {
  const html =
    '<head><title>T</title></head><body><h1>Head</h1><script>no()</script><p>One <b>bold</b>\n word</p><style>p{}</style><ul><li>a<li>b</ul>';
  expect(readText(html)).toBe('Head\nOne bold word\na\nb');
});

const HOSTILE_BYTES = 10_000_000;

test.each([
  [
    'a hundred thousand links',
    Array.from({ length: 100_000 }, (_, n) => `<a href="/${n}">${n}</a>`).join('\n'),
    MAX_LINKS,
  ],
  ['an attribute of 10 MB', `<a title="${'x'.repeat(HOSTILE_BYTES)}" href="/1">x</a>`, 1],
  ['a link of 10 MB', `<a href="/${'x'.repeat(HOSTILE_BYTES)}">x</a>`, 0],
  ['attributes of 10 MB', `<a ${'a=b '.repeat(HOSTILE_BYTES / 4)} href="/1">x</a>`, 1],
  ['elements that are never closed', '<div>'.repeat(HOSTILE_BYTES / 5), 0],
  ['tags that are never ended', '<a '.repeat(HOSTILE_BYTES / 3), 0],
  ['comments that are never ended', '<!--'.repeat(HOSTILE_BYTES / 4), 0],
])('%s take seconds, not minutes', (_, html, links) => {
  expectCpuBelow(15, () => {
    expect(readDocument(html, URL_OF_PAGE).links.length).toBe(links);
    readText(html);
  });
});

test('all text of an endlessly nested page is read', () => {
  const text = readText(`before${'<div>in</div>'.repeat(3_000)}${'<div>x'.repeat(100_000)}`);
  expect(text.split('\n').filter((line) => line === 'in').length).toBe(3_000);
  expect(text.split('\n').filter((line) => line === 'x').length).toBe(100_000);
});

// As Chromium reads them.
// biome-ignore format: a table
test.each([
  ['text/html charset=utf-8',              'text/html'],
  ['text/html (a comment)',                'text/html'],
  ['text/html, text/html; charset=utf-8',  'text/html'],
  ['image/png, text/html',                 'text/html'],
  ['text/html; charset=utf-8, image/png',  'image/png'],
  ['text/html; a="b, c/d"',                'text/html'],
  ['text/html, */*',                       'text/html'],
  ['Text/HTML;;',                          'text/html'],
  ['html',                                 undefined],
  ['charset=utf-8',                        undefined],
  ['; charset=utf-8',                      undefined],
  ['text / html',                          undefined],
  ['Content-Type: text/html',              undefined],
  ['*/*',                                  undefined],
  ['application/unknown',                  undefined],
])('Content-Type: %s means the media type %s', (header, type) => {
  expect(mediaTypeOf(header)).toBe(type);
});

test.each([
  ['text/html; charset=utf-8', true],
  ['none', true],
  ['text/plain', true],
  ['application/xhtml+xml', true],
  ['application/rss+xml', true],
  ['application/json', true],
  ['application/ld+json', true],
  ['APPLICATION/XML', true],
  ['application/x-ndjson', true],
  ['application/jsonl', true],
  ['application/javascript', true],
  [undefined, true],
  ['image/png', false],
  ['application/pdf', false],
  ['application/octet-stream', false],
  ['video/mp4', false],
])('a page of type %s is accepted: %s', (type, wanted) => {
  expect(acceptsText(type)).toBe(wanted);
});
