import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { expectCpuBelow } from '../../../../support/hostile/cpu-limit.ts';

const XHTML = { contentType: 'application/xhtml+xml' };

test.each([
  [
    'lines numbered beside no code',
    `<table><tr><td>${'<pre>1</pre>'.repeat(20_000)}<td>${'<b></b>'.repeat(100_000)}</table>`,
  ],
  [
    'links back from one note',
    `<sup><a id=r href=#n>1</a></sup><ul><li id=n><sup>x${'<a href=#r>^</a>'.repeat(40_000)}</sup></ul>`,
  ],
  ['a card of very many elements', `<a href=x><div>${'<b></b>'.repeat(150_000)}</div></a>`],
  ['nested links', `${'<a href="x"><i/>'.repeat(400)}${'<b/>'.repeat(190_000)}`, XHTML],
  [
    'pictures of very many sources',
    `<picture>${'<img>'.repeat(25_000)}${'<source srcset="a 1x">'.repeat(50_000)}</picture>`,
  ],
])(
  'markdown of a hostile page takes seconds, not minutes: %s',
  { timeout: 120_000 },
  (_, html, options?: typeof XHTML) => {
    const page = Page.fromHtml(`<p>begin</p>${html}`, options);
    page.get('p');
    expectCpuBelow(8, () => expect(page.markdown()).toContain('begin'));
  },
);

test.each([
  [
    'addresses relative to a long base',
    `<base href="/${'b'.repeat(2_000)}/">${'<img src=1>'.repeat(20_000)}`,
    4_300_000,
  ],
  ['code in quotes', `${'<blockquote>'.repeat(62)}<pre>${'a\n'.repeat(100_000)}`, 1_100_000],
  ['code in items', `${'<ol start=999999999><li>'.repeat(31)}<pre>${'a\n'.repeat(100_000)}`, 1_100_000],
  ['lines in quotes', `${'<blockquote>'.repeat(62)}<p>${'a<br>'.repeat(24_000)}`, 1_200_000],
  ['code in a cell', `<table><tr><th>a<tr><td><pre>${'a\n'.repeat(100_000)}</pre></table>`, 350_000],
  ['code in a heading', `<h1><pre>${'a\n'.repeat(100_000)}</pre></h1>`, 350_000],
])('markdown of a small page stays small: %s', { timeout: 120_000 }, (_, html, most) => {
  const page = Page.fromHtml(html);
  expect(page.markdown()?.length).toBeLessThan(most);
  expect(page.truncated).toEqual(['tree']);
});

test('tables that there are no cells left for lose their form, not their text', () => {
  const spanning = `<table><tr>${'<th colspan=1000>a'.repeat(3)}<tr><td>b</table>`;
  const markdown = Page.fromHtml(
    `${spanning.repeat(100)}<table><tr><td>last<td>words<tr><td>x<td>y</table>`,
  ).markdown();
  expect(markdown).toMatch(/last\s+words\s+x\s+y$/);
  expect(markdown?.length).toBeLessThan(400_000);
});
