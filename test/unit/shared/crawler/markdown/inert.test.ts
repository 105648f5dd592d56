import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';

// Rendered by commonmark.js, micromark with GitHub's extensions and markdown-it, none of these has a tag or a link that its page lacks.
const TAG = '&lt;img src=x onerror=run()&gt;';
// biome-ignore format: a table
test.each([
  ['a tag split over two elements',       '&lt;<b></b>img src=x&gt;',                              '\\<img src=x>'],
  ['a reference split over two elements', '&amp;<span>lt;img&gt;</span>',                          '\\&lt;img>'],
  ['a fence that is indented',            `<pre>  \`\`\`\n${TAG}</pre>`,                           '````\n  ```\n<img src=x onerror=run()>\n````'],
  ['a title that ends its quote',         `<a href="/x" title="${TAG}\\">t</a>`,                   '[t](https://e.test/x "\\<img src=x onerror=run()>\\\\")'],
  ['a title of several lines',            '<a href="/x" title="a\n\n&lt;script&gt;">t</a>',        '[t](https://e.test/x "a \\<script>")'],
  ['an address that ends its link',       `<a href="/?a\\" title="${TAG}">t</a>`,                  '[t](https://e.test/?a\\\\ "\\<img src=x onerror=run()>")'],
  ['an invalid address',                  '<a href="http://[\n\n[t]: javascript:run()">t</a>',     't'],
  ['a tag that begins in an alt',         `<img src="/i" alt='&lt;img onerror="run()//'>"&gt;`,    '![\\<img onerror="run()//](https://e.test/i)">'],
  ['an alt of several lines',             '<img src="/i" alt="a\n# b">',                           '![a # b](https://e.test/i)'],
  ['a tag in a formula',                  '<p><script type="math/tex">a<b</script></p>',           '$a< b$'],
  ['a link in a formula',                 '<p><script type="math/tex">[x](javascript:run())</script></p>', '$[x] (javascript:run())$'],
  ['code beside code',                    '<code>a</code><span><code>`b</code></span>',            '`a` `` `b ``'],
  ['a block of code in emphasis',         '<div><b><pre>a\n```</pre></b></div>',                   '**`a`  \n` ``` `**'],
  ['a raised tag alone on a line',        `<sup><br>${TAG}</sup>`,                                 '<sup> \\<img src=x onerror=run()></sup>'],
  ['a block in inline elements',          '<p>a <small> <pre>b</pre></small>',                     'a\n\n```\nb\n```'],
])('markdown gains no markup from %s', (_, html, markdown) => {
  expect(Page.fromHtml(html, { url: 'https://e.test/' }).markdown()).toBe(markdown);
});

test.each([
  '<title>x</title><frameset cols="*,*"><frame src=a><frame src=b></frameset>',
  '<frameset><noframes><p>x</noframes></frameset>',
  '<frameset></frameset><noframes><p>x</noframes>',
])('a frameset page has no content of its own: %s', (html) => {
  const page = Page.fromHtml(html);
  expect(page.markdown()).toBe('');
  expect(page.contentAs('article').content).toBe('');
});
