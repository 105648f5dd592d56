import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';

// biome-ignore format: a table
test.each([
  ['Hugo and Pandoc', '<p>a<sup id="fnref:1"><a href="#fn:1" class="footnote-ref">1</a></sup></p><ol><li id="fn:1"><p>Note. <a href="#fnref:1">↩︎</a></p><p>More</p></li></ol>', 'a[^1]\n\n[^1]: Note.\n\n    More'],
  ['GitHub',          '<p>a<sup><a href="#u-fn-1" id="u-fnref-1">1</a></sup></p><section><ol><li id="u-fn-1"><p>Note <a href="#u-fnref-1">↩</a></p></li></ol></section>',           'a[^1]\n\n[^1]: Note'],
  ['MediaWiki',       '<p>a<sup id="r_2-0"><a href="#n-2">[2]</a></sup> b<sup id="r_2-1"><a href="#n-2">[2]</a></sup></p><ol><li id="n-2"><span>^ <a href="#r_2-0"><sup>a</sup></a> <a href="#r_2-1"><sup>b</sup></a></span> <span>Smith.</span></li></ol>', 'a[^2] b[^2]\n\n[^2]: Smith.'],
  ['Sphinx',          '<p>a <a class="footnote-reference brackets" href="#id2" id="id1"><span>[</span>1<span>]</span></a></p><aside id="id2"><span class="label"><span>[</span><a href="#id1">1</a><span>]</span></span><p>Note</p></aside>', 'a [^1]\n\n[^1]: Note'],
])('footnotes as %s writes them become footnotes of markdown', (_, html, markdown) => {
  expect(Page.fromHtml(html).markdown()).toBe(markdown);
});

test('footnotes with the same label stay apart, and links within a page are not footnotes', () => {
  const note = (id: string): string => `<li id="n${id}">${id} <a href="#r${id}">↩</a></li>`;
  const page = Page.fromHtml(
    `<a href="#a" id="toc-a">1</a><h2 id="a"><a href="#toc-a">1</a></h2><sup><a id="rx" href="#nx">*</a></sup><sup><a id="ry" href="#ny">*</a></sup><sup><a href="#nowhere">2</a></sup><ul>${note('x')}${note('y')}</ul>`,
    { url: 'https://e.test/' },
  );
  expect(page.markdown()).toBe(
    '[1](https://e.test/#a)\n\n## [1](https://e.test/#toc-a)\n\n[^note][^note-2]<sup>[2](https://e.test/#nowhere)</sup>\n\n[^note]: x\n\n[^note-2]: y',
  );
});

const mathml =
  '<math><semantics><mrow><mi>E</mi></mrow><annotation encoding="application/x-tex">E=mc^2</annotation></semantics></math>';
// biome-ignore format: a table
test.each([
  ['KaTeX',             `<p>a <span class=katex><span class=katex-mathml>${mathml}</span><span class=katex-html>E=mc2</span></span></p>`,  'a $E=mc^2$'],
  ['KaTeX in a block',  `<span class=katex-mathml>${mathml.replace('<math', '<math display=block')}</span>`,                                  '$$\nE=mc^2\n$$'],
  ['KaTeX without MathML', '<p>a <span class=katex><span class=katex-html>x</span></span></p>',                                              'a x'],
  ['MediaWiki',         '<span><span><math alttext="{\\displaystyle a_{2}}"><mi>a</mi></math></span><img src="/a.svg" class="mwe-math-fallback-image-inline" alt="a"></span>', '$a_{2}$'],
  ['MathJax 2',         '<p>v <script type="math/tex">a_1</script></p><script type="math/tex; mode=display">b_2</script>',                     'v $a_1$\n\n$$\nb_2\n$$'],
  ['Sphinx',            '<p><span class="math notranslate">\\(x_i\\)</span></p><div class=math><span>(1)</span>\n\\[\\frac{a}{b}\\]</div>',    '$x_i$\n\n$$\n\\frac{a}{b}\n$$'],
  ['MathML alone',      '<math><mfrac><mn>1</mn><msqrt><mi>x</mi></msqrt></mfrac><mo>+</mo><msubsup><mi>a</mi><mn>1</mn><mn>2</mn></msubsup></math>', '$\\frac{1}{\\sqrt{x}} + a_{1}^{2}$'],
  ['a table cell',      `<table><tr><th>a<tr><td>${mathml.replace('<math', '<math display=block')}</table>`,                                  '| a |\n| --- |\n| $E=mc^2$ |'],
])('a formula in %s is written as LaTeX, if the page has its source', (_, html, markdown) => {
  expect(Page.fromHtml(html).markdown()).toBe(markdown);
});
