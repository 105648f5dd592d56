import type { AnyNode } from 'domhandler';
import { describe, expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { htmlTree, xmlTree } from '../../../../../shared/crawler/tools/tree.ts';
import { MAX_TREE_DEPTH, MAX_TREE_ELEMENTS } from '../../../../../shared/task/task/page-limits.ts';
import { expectCpuBelow } from '../../../../support/hostile/cpu-limit.ts';

const fonts = Array.from({ length: 100 }, (_, n) => `<font a=${n}>`).join('');
/** Pages that make recursion overflow or repetition explode. */
const PAGES: Readonly<Record<string, string>> = {
  'deep blocks': '<div>'.repeat(30_000),
  'deep formatting': '<b>'.repeat(30_000),
  'deep lists': '<ul><li>x'.repeat(20_000),
  'deep tables': '<table><tr><td>x'.repeat(30_000),
  'deep quotes': '<blockquote>x'.repeat(20_000),
  'deep templates': '<template>'.repeat(20_000),
  'deep shadow roots': '<div><template shadowrootmode=open>x'.repeat(30_000),
  'deep svg': '<svg><g>'.repeat(20_000),
  'misnested formatting': '<b><p>'.repeat(20_000) + '</b>'.repeat(20_000),
  'formatting that is opened again': `<p>${fonts}${'<p>x</p>'.repeat(10_000)}`,
  'text moved out of a table': `${'<br>'.repeat(20_000)}<table>${'x<br>'.repeat(20_000)}`,
  siblings: '<li>x'.repeat(50_000),
  attributes: `<p ${Array.from({ length: 50_000 }, (_, n) => `a${n}`).join(' ')}>`,
  'a long attribute': `<p title="${'x'.repeat(5_000_000)}">`,
  'unclosed tags': '<p>'.concat('<a href="x'.repeat(30_000)),
  'cells that span': `<table>${'<tr><td colspan=1000 rowspan=1000>x'.repeat(5_000)}`,
  'deep JSON': `<script type="application/ld+json">${'['.repeat(1_000_000)}</script>`,
  'a wide list in JSON': `<script type="application/ld+json">[${'{"a":1},'.repeat(200_000)}{"a":1}]</script>`,
  'a wide cell': `<table><tr><td>a<td>b<tr><td>c<td>${'x<br>'.repeat(150_000)}</table>`,
  'deep definitions': `${'<dl><dt>a<dd>'.repeat(400)}${'x'.repeat(100_000)}`,
  'footnotes of one label': `${'<sup><a id=r href=#n>1</a></sup>'.repeat(9_000)}<li id=n>${'<a href=#r>^</a>'.repeat(9_000)}`,
  'white space': `<p>${' \n'.repeat(500_000)}x`,
};

describe('a hostile page neither hangs a tool nor overflows it', () => {
  test.each(Object.entries(PAGES))('%s', { timeout: 120_000 }, (_, html) => {
    const page = Page.fromHtml(html);
    expect(depthOf(htmlTree(html).top.node)).toBeLessThanOrEqual(MAX_TREE_DEPTH + 2);
    for (const use of [
      () => page.get('body'),
      () => page.all('div div p, ul > li:nth-child(2), li:nth-last-of-type(3)'),
      () => page.number('body'),
      () => page.links('body'),
      () => page.table(),
      () => page.jsonLd(),
      () => page.microdata(),
      () => page.variable('a'),
      () => page.openGraph,
      () => page.all('body')[0]?.html,
      () => page.markdown(),
      () => page.xpath('//p[2]'),
      () => page.xml('p').length,
    ]) {
      expect(use).not.toThrow();
    }
  });
});

test('a column has a short name, however long its header is and however many columns it spans', () => {
  const header = `<thead>${`<tr><th colspan=1000>${'x'.repeat(20_000)}`.repeat(2)}</thead>`;
  const [row = {}] = Page.fromHtml(`<table>${header}<tr>${'<td>y'.repeat(1_000)}</table>`).table() ?? [];
  const names = Object.keys(row);
  expect(names).toHaveLength(1_000);
  expect(Math.max(...names.map(({ length }) => length))).toBeLessThan(300);
});

test('elements deeper than browsers nest them become siblings at the deepest level', () => {
  const page = Page.fromHtml(`${'<div>'.repeat(2_000)}<p>one<p>two`);
  expect(page.all('p').map(({ text }) => text)).toEqual(['one', 'two']);
  expect(page.truncated).toEqual([]);
});

test('elements past the limit are left out, and the page says so', () => {
  const page = Page.fromHtml(`<p>first</p>${'<i></i>'.repeat(MAX_TREE_ELEMENTS)}<p>last</p>`);
  expect(page.truncated, 'no tool was used').toEqual([]);
  expect(page.all('p').map(({ text }) => text)).toEqual(['first']);
  expect(page.truncated).toEqual(['tree']);
  page.forgetTree();
  expect(page.truncated, 'its record still says so').toEqual(['tree']);
});

test('an XML tree is cut where it is too deep', () => {
  const { top, isCut } = xmlTree('<a>'.repeat(2_000));
  expect([isCut, depthOf(top.node)]).toEqual([true, MAX_TREE_DEPTH]);
});

test.each([
  ['lines', `a${'<br>'.repeat(45_000)}b`],
  ['lines with blank elements between', `a${'<br><i> </i>'.repeat(15_000)}b`],
  ['preformatted spaces', `<pre>a${' '.repeat(1_000_000)}b</pre>`],
  ['preformatted lines in a quote', `<blockquote><ul><li><pre>a${'\n'.repeat(1_000_000)}b</pre></ul></blockquote>`],
  ['no-break spaces', `a${'&nbsp;'.repeat(500_000)}b`],
  ['lines in paragraphs', `a${'<p><br></p>'.repeat(15_000)}b`],
  ['no-break spaces in many elements', `a${'<i>&nbsp;&nbsp;</i>'.repeat(20_000)}b`],
])('markdown of any white space takes seconds, not minutes: %s', { timeout: 120_000 }, (_, html) => {
  expectCpuBelow(8, () => expect(Page.fromHtml(html).markdown()).toMatch(/a[\s>]+b/));
});

test('markdown keeps how code is indented, however much white space is around it', () => {
  const around = `\n${' '.repeat(300)}<div>\n${' '.repeat(300)}`;
  const page = Page.fromHtml(`<p>a</p>${around}<pre><code><i>  </i>if\n${' '.repeat(8)}x</code></pre>${around}<br>b`);
  expect(page.markdown()).toContain('```\n  if\n        x\n```');
});

test('XPath takes seconds for a long list, not minutes', { timeout: 120_000 }, () => {
  const page = Page.fromHtml('<div class="row"><p><b>a</b> <a href="/1">b</a></p></div>\n'.repeat(3_000));
  expectCpuBelow(15, () => expect(page.xpath('//div[@class="row"]//a').length).toBe(3_000));
});

test('XPath compares positions in a list of 10,000 rows in seconds, not minutes', { timeout: 120_000 }, () => {
  const page = Page.fromHtml('<div class="row"><p><b>a</b> <a href="/1">b</a></p></div>\n'.repeat(10_000));
  expectCpuBelow(8, () => expect(page.xpath('//div[@class="row"]//a').length).toBe(10_000));
});

test.each([
  ['//p/following-sibling::p', '<p>x</p>'.repeat(5_000)],
  ['//p[count(preceding-sibling::p) = 3]', '<p>x</p>'.repeat(6_000)],
  ['//div//div', '<div>'.repeat(500)],
])('XPath that takes too much work on a page is an error: %s', { timeout: 120_000 }, (expression, html) => {
  const page = Page.fromHtml(html);
  expectCpuBelow(15, () => {
    expect(() => page.xpath(expression)).toThrow(`XPath "${expression}" took more than 30000000 steps`);
  });
  expect(page.xpath('//body').length, 'the next one has its own').toBe(1);
});

test.each([
  ['div:not(:has(div div div))', '<div>'.repeat(500), 3],
  ['div:not(:has(p, div div div))', '<div>'.repeat(500), 3],
  ['p:has(:scope ~ h2)', '<p>x</p>'.repeat(20_000), 0],
  ['p:last-of-type', `${'<p>x</p>'.repeat(20_000)}${'<b>x</b>'.repeat(20_000)}`, 1],
])('a selector takes seconds, not minutes: %s', { timeout: 120_000 }, (css, html, count) => {
  const page = Page.fromHtml(html);
  expectCpuBelow(2, () => expect(page.all(css)).toHaveLength(count));
});

test.each([
  ['p:is(b ~ p)', '<p>x</p>'.repeat(20_000)],
  ['[title*=xz] i', `<div title="${'xy'.repeat(500_000)}">${'<i>x</i>'.repeat(20_000)}`],
])('a selector that takes too much work on a page is an error: %s', { timeout: 120_000 }, (css, html) => {
  const page = Page.fromHtml(html);
  expectCpuBelow(8, () => {
    expect(() => page.all(css)).toThrow(`Selector "${css}" took more than 100000000 steps`);
  });
  expect(page.all('body').length, 'the next one has its own').toBe(1);
});

test.each(['//b[following-sibling::i]', '//b[preceding-sibling::i]'])(
  'XPath takes seconds for %s in a long list, not minutes',
  { timeout: 120_000 },
  (expression) => {
    const page = Page.fromHtml('<b>x</b>'.repeat(30_000));
    expectCpuBelow(8, () => expect(page.xpath(expression)).toEqual([]));
  },
);

/** Nodes on the longest way from the root. */
function depthOf(root: AnyNode): number {
  let depth = 0;
  let level: readonly AnyNode[] = [root];
  for (; level.length > 0; depth++) level = level.flatMap((node) => ('children' in node ? node.children : []));
  return depth - 1;
}

test('links of a page with a long base are cut at 16 MiB, the first ones kept', () => {
  const base = `http://a.test/${'x'.repeat(1_900)}/`;
  const links = Array.from({ length: 20_000 }, (_, n) => `<a href=${n}>`).join('');
  for (const css of ['a', 'a:not(.x)']) {
    const found = Page.fromHtml(`<base href="${base}">${links}`).links(css);
    expect(found.slice(0, 2)).toEqual([`${base}0`, `${base}1`]);
    const length = found.reduce((sum, link) => sum + link.length, 0);
    expect(length).toBeLessThanOrEqual(16 * 1024 ** 2);
    expect(length).toBeGreaterThan(16 * 1024 ** 2 - 2_048);
  }
});
