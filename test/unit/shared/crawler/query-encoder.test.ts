import { expect, test } from 'vitest';
import { Page } from '../../../../shared/crawler/page.ts';
import { queryEncoderOf } from '../../../../shared/crawler/query-encoder.ts';

// As browsers and Python's codecs write them.
// biome-ignore format: a table
test.each([
  ['windows-1251', '?q=привет',    '?q=%EF%F0%E8%E2%E5%F2'],
  ['koi8-r',       '?q=привет',    '?q=%D0%D2%C9%D7%C5%D4'],
  ['windows-1252', '?q=né&l=€',    '?q=n%E9&l=%80'],
  ['iso-8859-2',   '?q=żółw',      '?q=%BF%F3%B3w'],
  ['gbk',          '?q=中文€',      '?q=%D6%D0%CE%C4%80'],
  ['gb18030',      '?q=中文€',      '?q=%D6%D0%CE%C4%A2%E3'],
  ['big5',         '?q=中文功十',    '?q=%A4%A4%A4%E5%A5\\%A4Q'],
  ['shift_jis',    '?q=日本ｱソ纊',   '?q=%93%FA%96{%B1%83\\%FA\\'],
  ['euc-jp',       '?q=日本−',      '?q=%C6%FC%CB%DC%A1%DD'],
  ['euc-kr',       '?q=한국똠',      '?q=%C7%D1%B1%B9%8Cc'],
  ['iso-2022-jp',  '?q=日本&r=a"b',  '?q=%1B$BF|K\\%1B(B&r=a"b'],
  ['iso-2022-jp',  '?q=で',          '?q=%1B$B$G%1B(B'],
  ['iso-2022-jp',  '?q=あぃ',        '?q=%1B$B$%22$%23%1B(B'],
  ['windows-1251', '?q=\ud800',     '?q=%26%2365533%3B'],
])('a query is encoded in %s: %s', (charset, query, written) => {
  expect(queryEncoderOf(charset)?.(query)).toBe(written);
});

test('a character that the encoding lacks is written as an entity', () => {
  expect(queryEncoderOf('windows-1251')?.('?q=中💩')).toBe('?q=%26%2320013%3B%26%23128169%3B');
});

test.each(['utf-8', 'utf-16le'])('a page in %s has its queries in UTF-8', (charset) => {
  expect(queryEncoderOf(charset)).toBeUndefined();
});

/** A page in windows-1251: `q` is its letters in that encoding. */
function russian(before = ''): Page {
  const letters = Buffer.from([0xef, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]).toString('latin1');
  const html = `<meta charset=windows-1251>${before}<a href="/${letters}?q=${letters}#${letters}">1</a><a href="/b#?q=${letters}">2</a>`;
  return Page.fromHtml(Buffer.from(html, 'latin1'), { url: 'http://a.test/dir/' });
}
const PATH = '%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82';
const LINKS = [`http://a.test/${PATH}?q=%EF%F0%E8%E2%E5%F2`, 'http://a.test/b'];

test("a page's encoding applies to the queries of its links, but not to their paths", () => {
  expect(russian().links()).toEqual(LINKS);
  expect(russian().links('a')).toEqual(LINKS);
  const page = russian();
  expect([page.get('a'), page.links()]).toEqual(['1', LINKS]);
});

test('a page read in steps also writes the queries of its links in its encoding', async () => {
  const page = russian(' '.repeat(300_000));
  await page.readAhead('none');
  expect(page.links()).toEqual(LINKS);
  expect(page.links('a')).toEqual(LINKS);
});

test('a page in UTF-8 writes its queries in UTF-8', () => {
  const page = Page.fromHtml('<meta charset=utf-8><a href="?q=привет">1</a>', { url: 'http://a.test/' });
  expect(page.links()).toEqual([`http://a.test/?q=${PATH}`]);
});
