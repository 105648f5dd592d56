import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';

// As GitHub, Sphinx, Docusaurus, Shiki, Rouge, Hugo, Hexo and Pandoc write it.
// biome-ignore format: a table
test.each([
  ['without <code>',                      '<pre>plain *text*\n  indented</pre>',                                                                          '```\nplain *text*\n  indented\n```'],
  ['whose language is named around it',   '<div class="highlight highlight-source-js"><pre><span class="k">const</span> a;\n<i>// end</i></pre></div>',   '```js\nconst a;\n// end\n```'],
  ['whose language is two elements up',   '<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>import os\n</pre></div></div>', '```python\nimport os\n```'],
  ['without a language',                  '<div class="highlight-default"><pre class="text">x</pre></div>',                                              '```\nx\n```'],
  ['with lines divided by <br>',          '<pre class="prism-code language-ts"><code><span>a;</span><br><span>b;</span><br></code><button>Copy</button></pre>', '```ts\na;\nb;\n```'],
  ['with lines that are blocks',          '<pre lang=sh><code><div>a</div><div>b</div></code></pre>',                                                      '```sh\na\nb\n```'],
  ['with line numbers in a table in it',  '<div class="language-ruby"><pre><code><table><tr><td class="rouge-gutter gl"><pre>1\n2\n</pre></td><td><pre>puts 1\nputs 2\n</pre></td></tr></table></code></pre></div>', '```ruby\nputs 1\nputs 2\n```'],
  ['beside line numbers in a table',      '<table><tr><td><pre><code>7\n8\n</code></pre></td><td><pre><code data-lang="go">a\nb\n</code></pre></td></tr></table>', '```go\na\nb\n```'],
  ['in a figure that names its language', '<figure class="highlight js"><table><tr><td class=gutter><pre>1<br>2<br></pre></td> <td><pre>a<br>  b<br></pre></td></tr></table></figure>', '```js\na\n  b\n```'],
  ['as Pandoc writes it',                 '<div class="sourceCode"><pre class="sourceCode haskell"><code class="sourceCode haskell">main</code></pre></div>', '```haskell\nmain\n```'],
  ['of numbers alone',                    '<pre>1\n2\n3</pre>',                                                                                           '```\n1\n2\n3\n```'],
])('a block of code %s is fenced', (_, html, markdown) => {
  expect(Page.fromHtml(html).markdown()).toBe(markdown);
});

// biome-ignore format: a table
test.each([
  ['loses its markup',                 '<code>fn <a href="/x">x</a>(<em>y</em>_z)</code>',     '`fn x(y_z)`'],
  ['can be a link as a whole',         '<code><a href="/Foo">Foo</a></code>',                  '[`Foo`](https://www.example.com/Foo)'],
  ['includes keys and output',         '<kbd>Ctrl</kbd>+<kbd>C</kbd> <samp>^C</samp>',         '`Ctrl`+`C` `^C`'],
])('inline code %s', (_, html, markdown) => {
  expect(Page.fromHtml(html).markdown()).toBe(markdown);
});
