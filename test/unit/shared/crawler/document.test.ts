import { expect, test } from 'vitest';
import { acceptsText } from '../../../../shared/crawler/crawler.ts';
import { readDocument, readText } from '../../../../shared/crawler/document.ts';

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

test('the readable text leaves out what nobody reads', () => {
  const html =
    '<head><title>T</title></head><body><h1>Head</h1><script>no()</script><p>One <b>bold</b>\n word</p><style>p{}</style><ul><li>a<li>b</ul>';
  expect(readText(html)).toBe('Head\nOne bold word\na\nb');
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
