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
