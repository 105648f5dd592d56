import { expect, test } from 'vitest';
import { afterManyExpressions } from '../../../../support/hostile/after-many-expressions.ts';

/** Shapes of a page, with a place for a value of megabytes, and the most characters of markdown that each may become. */
const SHAPES = {
  alt: ['<img src=/a alt="%">', 20_100],
  title: ['<img src=/a title="%">', 20_100],
  src: ['<img src="%" alt=a>', 100],
  class: ['<pre class="%"><code class="language-%">a = 1</code></pre>', 100],
  around: ['<div class="highlight-%"><pre>a = 1</pre></div>', 100],
} as const;

const SCRIPT = `
const { Page } = await import(at('shared/crawler/page.ts'));
const lengths = {};
for (const [name, [shape, most]] of Object.entries(${JSON.stringify(SHAPES)}))
  for (const unit of name === 'src' ? [' ', '\\n'] : [' ', 'n', '9', '=', '_', '\\n']) {
    const html = '<p>Hello.</p>' + shape.replaceAll('%', () => unit.repeat(10_000_000));
    const { length } = Page.fromHtml(html).markdown();
    if (length < 6 || length > most) lengths[name + ' of ' + JSON.stringify(unit)] = length;
  }
console.log(JSON.stringify(lengths));
`;

test('markdown keeps only the beginning of values of megabytes, even after many regular expressions', () => {
  expect(afterManyExpressions(SCRIPT)).toEqual({});
});
