import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';

// Rendered by cmark-gfm, each has the elements of its page.
// biome-ignore format: a table
test.each([
  ['a table of one column',            '<table><tr><th>Name<tr><td>a<tr><td>b</table>',                                     '| Name |\n| --- |\n| a |\n| b |'],
  ['a table of a header only',         '<table><tr><th>A<th>B</table>',                                                     '| A | B |\n| --- | --- |'],
  ['a table without a header',         '<table><tr><td>a<td>b<tr><td>c<td>d</table>',                                       '|  |  |\n| --- | --- |\n| a | b |\n| c | d |'],
  ['a table of names and values',      '<table><tr><th>A<td>1<tr><th>B<td>2</table>',                                       '|  |  |\n| --- | --- |\n| A | 1 |\n| B | 2 |'],
  ['a header with an empty corner',    '<table><tr><td><th>A<tr><th>x<td>1</table>',                                        '|  | A |\n| --- | --- |\n| x | 1 |'],
  ['blocks in a cell',                 '<table><tr><th>A<th>B<tr><td><p>p<p>q<td><ul><li>1<li>2</ul></table>',              '| A | B |\n| --- | --- |\n| p<br>q | - 1<br>- 2 |'],
  ['code in a cell',                   '<table><tr><th>A<th>B<tr><td><pre>if a|b:\n  c</pre><td><h4>H</h4>x</table>',        '| A | B |\n| --- | --- |\n| `if a\\|b:`<br>`c` | H<br>x |'],
  ['a table for layout',               '<table role=presentation><tr><th>a<td>b<tr><td>c<td>d</table>',                     'a\n\nb\n\nc\n\nd'],
  ['definitions',                      '<dl><dt>Term<dd>One<dd>Two</dd><div><dt><code>-f</code><dd><p>Text</dd></div></dl>',     '-   Term\n    -   One\n    -   Two\n-   `-f`\n    -   Text'],
  ['a list of tasks',                  '<ul><li><input type=checkbox checked> done<li><label><input type=checkbox> open</label></ul>', '-   [x] done\n-   [ ] open'],
  ['an admonition',                    '<div class="admonition note"><p class="admonition-title">Note</p><p>Text</p></div>', '> Note\n> \n> Text'],
  ['a link around blocks',             '<a href="/c"><img src="/i.png" alt="I"><h3>Card</h3><p>Text</p></a>',               '![I](https://e.test/i.png)\n\n### [Card](https://e.test/c)\n\nText'],
  ['a link around blocks, unheaded',   '<a href="/c"><div><div><img src="/i.png" alt="I"></div><p>Text</p></div></a>',      '[![I](https://e.test/i.png)](https://e.test/c)\n\nText'],
  ['a link to a heading',              '<h2 id=t>Title<a href="#t">¶</a></h2><h3><a href="#u">U</a></h3>',                  '## Title\n\n### [U](https://e.test/d/#u)'],
  ['a link without a text',            '<p>a<a href="/x"><svg></svg></a></p>',                                              'a'],
  ['raised, struck and quoted text',   'H<sub>2</sub>O 10<sup>6</sup> <del>a</del> <strike>b</strike> <q>c</q>',            'H<sub>2</sub>O 10<sup>6</sup> ~~a~~ ~~b~~ "c"'],
  ['text that would be markup',        'Use &lt;div&gt;, &amp;lt; ~~x~~ a &lt; b AT&amp;T<p>1) one',                        'Use \\<div>, \\&lt; \\~\\~x\\~\\~ a < b AT&T\n\n1\\) one'],
])('markdown of %s', (_, html, markdown) => {
  expect(Page.fromHtml(html, { url: 'https://e.test/d/' }).markdown()).toBe(markdown);
});

// biome-ignore format: a table
test.each([
  ['the one a script loads later',     '<img src="/dot.gif" data-src="/a.jpg" srcset="/b.jpg 2x">',                    '/a.jpg'],
  ['the widest of those loaded later', '<img src="/dot.gif" data-srcset="/s.jpg 300w, /l,1.jpg 800w">',                '/l,1.jpg'],
  ['its own src',                      '<picture><source srcset="/p.webp"><img src="/p.jpg" srcset="/q.jpg 2x"></picture>', '/p.jpg'],
  ['the densest, if it has no src',    '<img srcset="/s.jpg, /2x.jpg 2x">',                                            '/2x.jpg'],
  ['the one of its <picture>',         '<picture><source srcset="/p.webp"><img src="data:image/gif;base64,R0"></picture>', '/p.webp'],
  ['the one in <noscript> beside it',  '<img src="data:image/gif;base64,R0"> <noscript><img src="/n.jpg"></noscript>',   '/n.jpg'],
  ['not that of a tracking pixel',     '<img src="/a.jpg"><noscript><img src="/count.gif"></noscript>',                 '/a.jpg'],
])('the address of a picture: %s', (_, html, path) => {
  expect(Page.fromHtml(html, { url: 'https://e.test/' }).markdown()).toBe(`![](https://e.test${path})`);
});
