import { expect, test } from 'vitest';
import { acceptsText } from '../../../../shared/crawler/crawler.ts';
import { MAX_LINKS, readDocument, readText } from '../../../../shared/crawler/document.ts';

const URL_OF_PAGE = 'http://example.com/dir/page';

test.each([
  ['<title>Plain</title>', 'Plain'],
  ['<TITLE>  Two \n  lines  </TITLE>', 'Two lines'],
  ['<title>Fish &amp; chips &#8364;</title>', 'Fish & chips €'],
  ['<title>First</title><title>Second</title>', 'First'],
  ['<svg><title>A picture</title></svg><title>The page</title>', 'The page'],
  ['<title></title>', null],
  ['<h1>No title</h1>', null],
  ['<title>Never closed', 'Never closed'],
])('%s has the title %s', (html, title) => {
  expect(readDocument(html, URL_OF_PAGE).title).toBe(title);
});

test('links are absolute, each once, in order, without fragments and without those that nobody can fetch', () => {
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

test('the first base decides what links are relative to', () => {
  const html = '<base href="/other/"><base href="/ignored/"><a href="x">x</a>';
  expect(readDocument(html, URL_OF_PAGE).links).toEqual(['http://example.com/other/x']);
});

test('links that the page asks not to follow are told from the others', () => {
  const html = `<a href="/a" rel="nofollow">1</a><a rel="external NOFOLLOW ugc" href="/b">2</a><area href="/c" rel=nofollow>
    <a href="/d" rel="nofollows">3</a><a href="/a">1 again</a><a href="/e">4</a><a href="/e" rel="nofollow">4 again</a>`;
  const { links, nofollow } = readDocument(html, URL_OF_PAGE);
  expect(links).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `http://example.com/${name}`));
  expect([...nofollow]).toEqual(['http://example.com/b', 'http://example.com/c']);
});

test.each([
  ['<meta name="robots" content="noindex, nofollow">', true],
  ['<META CONTENT=none NAME=Robots />', true],
  ['<meta name="TrawlBot" content="nofollow">', true],
  ['<meta name="robots" content="noindex">', false],
  ['<meta name="googlebot" content="nofollow">', false],
  ['<meta name="description" content="nofollow">', false],
  ['<!-- <meta name="robots" content="nofollow"> -->', false],
])('%s asks that no link is followed: %s', (html, isNofollow) => {
  expect(readDocument(html, URL_OF_PAGE).isNofollow).toBe(isNofollow);
});

test.each([
  ['<link rel="canonical" href="/real#top">', 'http://example.com/real'],
  ['<link href=" https://www.example.com/ " rel="Canonical">', 'https://www.example.com/'],
  ['<base href="/b/"><link rel=canonical href="c"><link rel=canonical href="d">', 'http://example.com/b/c'],
  ['<link rel="stylesheet" href="/s.css">', null],
  ['<link rel="canonical" href="javascript:void(0)">', null],
])('%s names %s as its canonical address', (html, canonical) => {
  expect(readDocument(html, URL_OF_PAGE).canonical).toBe(canonical);
});

test('the readable text leaves out what nobody reads', () => {
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
  const began = performance.now();
  expect(readDocument(html, URL_OF_PAGE).links.length).toBe(links);
  readText(html);
  expect(performance.now() - began).toBeLessThan(15_000);
});

test('of a page that nests too deep, the text up to there is read', () => {
  const text = readText(`before${'<div>in</div>'.repeat(3_000)}${'<div>x'.repeat(100_000)}`);
  expect(text.split('\n').filter((line) => line === 'in').length).toBe(3_000);
  expect(text.split('\n').filter((line) => line === 'x').length).toBe(1_000);
});

test.each([
  ['text/html; charset=utf-8', true],
  ['text/plain', true],
  ['application/xhtml+xml', true],
  ['application/rss+xml', true],
  ['application/json', true],
  ['application/ld+json', true],
  ['APPLICATION/XML', true],
  [undefined, true],
  ['image/png', false],
  ['application/pdf', false],
  ['application/octet-stream', false],
  ['video/mp4', false],
])('a page of type %s is wanted: %s', (type, wanted) => {
  expect(acceptsText(type)).toBe(wanted);
});
