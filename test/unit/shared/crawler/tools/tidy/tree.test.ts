import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyNode, Document, ParentNode } from 'domhandler';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDocument } from '../../../../../../shared/crawler/document/document.ts';
import { Page } from '../../../../../../shared/crawler/page.ts';
import type { NodeHandle } from '../../../../../../shared/crawler/tools/node-handle.ts';
import { OutlinedPage, OutlineHandle } from '../../../../../../shared/crawler/tools/outline/handle.ts';
import { tidyTree } from '../../../../../../shared/crawler/tools/tidy/tree.ts';
import { htmlTree, untidyTree } from '../../../../../../shared/crawler/tools/tree.ts';
import { TreeHandle } from '../../../../../../shared/crawler/tools/tree-handle.ts';
import { MAX_TREE_DEPTH } from '../../../../../../shared/task/task/page-limits.ts';
import { linkBase } from '../../../../../../shared/task/url/url.ts';
import { mutate } from '../../../../../support/pages/mutation.ts';
import { generatePage } from '../../../../../support/pages/page-generator.ts';
import { SeededRandom } from '../../../../../support/seeded-random.ts';

const SAVED = join(import.meta.dirname, '../../../../../support/pages/saved');
const URL_OF_PAGE = 'http://example.com/dir/page.html';
const SEED = Number(process.env.TIDY_SEED ?? 3);
const RUNS = Number(process.env.TIDY_RUNS ?? 4_000);
const MUTATIONS = 4_000;

const NAMES =
  `a b i font nobr p div span li ul ol dd dt dl h1 h2 button form select option optgroup table caption colgroup col
  tbody thead tfoot tr td th template svg math title style script textarea xmp iframe noembed noframes noscript foreignObject desc
  mi mglyph path g use object applet marquee body html head frameset frame base link meta area br hr img
  input ruby rt rp pre listing plaintext details summary fieldset x-y center address search dialog video label`.split(
    /\s+/,
  );
const PIECES = [
  ...[
    't',
    ' ',
    '\n',
    '\r\n',
    '&amp;',
    '&lt',
    '&#10;x',
    '<',
    '',
    '<!--c-->',
    '<!doctype html>',
    '<![CDATA[x]]>',
    '<?x?>',
  ],
  ...[
    '<br>',
    '<hr/>',
    '<col>',
    '<IMG SRC="a&amp;b" src=c>',
    '<input type=hidden>',
    '<meta charset=utf-8>',
    '<link rel=x>',
  ],
  ...[
    '<base href=/b/>',
    '<link rel=canonical href=/c>',
    '<a href="/x?a&amp;b" rel=nofollow>a</a>',
    '<title>T &lt; \n</title>',
  ],
  ...['</>', '</p>', '</x>', '</div>', '</html>', '</body>', '</h1>', '</li>'],
];
const ATTRIBUTES = ['', '', '', ' class="A b"', ' xlink:href=#x viewbox=0 a=1 A=2', ' href=/1 REL=next', '/'];

/** An element that is mostly closed and holds what it may hold, so that many pages are tidy. */
const { element } = fc.letrec<{ element: string }>((tie) => ({
  element: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'tree' },
    fc.constantFrom(...PIECES),
    fc
      .tuple(
        fc.constantFrom(...NAMES),
        fc.constantFrom(...ATTRIBUTES),
        fc.array(tie('element'), { maxLength: 4 }),
        fc.constantFrom(true, true, true, true, false),
      )
      .map(([name, attributes, inside, isClosed]) => {
        return `<${name}${attributes}>${inside.join('')}${isClosed ? `</${name}>` : ''}`;
      }),
  ),
}));

const HEADS = [
  ...['', '<!doctype html>', '<html lang=en>', '<head>', '<title>a &amp; b</title>', '<script>"<b>"</script>'],
  ...['<noscript><style>x</style></noscript>', '</head>', '\n', '<body class=x>', 'x', '<main>'],
];
const tag = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('<', '</'),
      fc.constantFrom(
        ...'table tbody thead tr td th caption colgroup col p ul li b select option optgroup svg dl dt dd a pre textarea'.split(
          ' ',
        ),
      ),
    )
    .map(([begin, name]) => `${begin}${name}>`),
  fc.constantFrom('t', ' ', '\n'),
);

/** A tree as text: each element with its namespace and attributes, each text; also says where parents and neighbours don't fit. */
function shown(parent: ParentNode, indent = ''): string {
  const lines = parent.children.flatMap((node: AnyNode, at) => {
    const fits = node.parent === parent && node.prev === (parent.children[at - 1] ?? null);
    const ill = fits && node.next === (parent.children[at + 1] ?? null) ? '' : ' (misplaced)';
    if (node.type === 'text') return [`${indent}${JSON.stringify(node.data)}${ill}`];
    if (!('attribs' in node)) return [`${indent}${node.type}`];
    const head = `${indent}${node.type} ${node.namespace} ${node.name} ${JSON.stringify(Object.entries(node.attribs))}`;
    return [head + ill, shown(node, `${indent} `)];
  });
  return lines.filter((line) => line !== '').join('\n');
}

function shownTop(top: NodeHandle): string {
  return shown(top.node as Document);
}

/** Selectors, beginning with those that an outline can answer itself. */
const SELECTORS = [
  ...[
    'a',
    '*',
    '.A',
    '.b.A',
    'p.text',
    '#p1',
    'DIV',
    'div p, li',
    'ul > li',
    'svg a',
    'body  div>span',
    '[href]',
    'a[rel=next]',
  ],
  ...['[class~="b"]', '[A="2"]', '[href^="/1"]', 'nothing here', 'path', 'foreignObject'],
];
const BASE = linkBase(URL_OF_PAGE);

/** Expects an outline to answer as its tree does, for the page and for elements in it. */
function expectSameAnswers(outlined: NodeHandle, name: string): void {
  const tree = new TreeHandle(outlined.node, false);
  const css = SELECTORS[name.length % SELECTORS.length] ?? '*';
  for (const selector of ['*', css, SELECTORS[outlined.source.length % SELECTORS.length] ?? '*'])
    expect(answers(outlined, selector), `${selector} of ${name}`).toEqual(answers(tree, selector));
  const [one, same] = [outlined.first(css), tree.first(css)];
  expect(one === undefined, name).toBe(same === undefined);
  if (one !== undefined && same !== undefined)
    for (const inside of ['li', '.b', 'a, p', '> *'])
      expect(answers(one, inside), `${inside} in ${css} of ${name}`).toEqual(answers(same, inside));
}

function answers(top: NodeHandle, css: string): unknown {
  return {
    own: [top.name, top.text, top.source, top.links(undefined, BASE)],
    links: top.links(css, BASE),
    first: top.first(css)?.text,
    all: top.all(css).map((one) => [one.name, one.text, ...ASKED.map((attribute) => one.attribute(attribute))]),
    named: [...top.named('a')].map((one) => one.text),
  };
}
const ASKED = ['class', 'CLASS', 'href', 'xlink:href', 'viewBox', 'a', 'A', 'rel', 'id'];

/** Returns whether the page is tidy. */
function expectSame(html: string, name: string): boolean {
  const tidy = tidyTree(html, URL_OF_PAGE);
  if (tidy === undefined) return false;
  const outlined = new OutlineHandle(new OutlinedPage(tidy.outline));
  expect(shownTop(outlined), name).toBe(shownTop(untidyTree(html).top));
  expectSameAnswers(outlined, name);
  if (!html.includes('\r')) expect(tidy.document, name).toEqual(readDocument(html, URL_OF_PAGE));
  return true;
}

const saved = readdirSync(SAVED)
  .filter((name) => name.endsWith('.html'))
  .map((name) => ({ name, html: readFileSync(join(SAVED, name), 'utf8') }));
const generated = Array.from({ length: 100 }, (_, n) => ({ name: `page ${n}`, html: generatePage(SEED * 1_000 + n) }));
const pages = [...saved, ...generated];

describe('a tidy page has the tree of parse5, and the document of our own reader', () => {
  test('saved pages, most of which are tidy, and generated ones', () => {
    for (const { html, name } of generated) expectSame(html, name);
    const tidy = saved.filter(({ html, name }) => expectSame(html, name));
    expect(tidy.length).toBeGreaterThan(saved.length / 2);
  });

  test('4,000 mutations of them', { timeout: 120_000 }, () => {
    let tidy = 0;
    for (const [n, { html, name }] of pages.entries()) {
      const random = new SeededRandom(SEED * pages.length + n);
      for (let at = 0; at < MUTATIONS / pages.length; at++)
        if (expectSame(mutate(html, random), `mutation ${at} of ${name}`)) tidy++;
    }
    expect(tidy).toBeGreaterThan(100);
  });

  test('any nested elements', { timeout: 120_000 }, () => {
    const tidy = tidyOf(fc.tuple(fc.subarray(HEADS), fc.array(element, { maxLength: 5 })), (parts) =>
      parts.flat().join(''),
    );
    expect(tidy).toBeGreaterThan(RUNS / 3);
  });

  test('any tags of tables, lists and the like', { timeout: 120_000 }, () => {
    const tidy = tidyOf(fc.tuple(fc.constantFrom('', '<table>'), fc.array(tag, { maxLength: 14 })), (parts) =>
      parts.flat().join(''),
    );
    expect(tidy).toBeGreaterThan(RUNS / 10);
  });
});

test('attributes that take much of a page are read once, however often they are asked for', () => {
  const many = Array.from({ length: 20_000 }, (_, n) => `a${n}=${n}`).join(' ');
  const page = Page.fromHtml(`<body ${many} class=last>${'<p><i>x</i></p>'.repeat(20_000)}</body>`);
  // Read each time, they would be read 20,000 times.
  expect(page.all('.last i')).toHaveLength(20_000);
  expect(page.attr('body', 'A19999')).toBe('19999');
});

test('an element around many others is not read again for each of them', { timeout: 60_000 }, () => {
  const many = Array.from({ length: 200 }, (_, n) => `a${n % 10}`)
    .join(' ')
    .slice(0, 490);
  const html = `${`<div ${many}>`.repeat(500)}${'<i>x</i>'.repeat(100_000)}${'</div>'.repeat(500)}`;
  const page = Page.fromHtml(html);
  // Read each time, that would be 50 million times.
  expect(page.all('.none i')).toHaveLength(0);
});

test.each([
  ['formatting that continues after a paragraph', '<p><b>a<p>b'],
  ['misnested formatting', '<b><i>a</b>b</i>'],
  ['text in a table', '<table>a<tr><td>b</table>'],
  ['a template', '<template><p>a</template>'],
  ['a link in a link', '<a href=/1>a<a href=/2>b</a>'],
  ['a table in a paragraph of an old page', '<p>a<table><tr><td>b</table>'],
  ['CDATA in SVG', '<svg><![CDATA[a]]></svg>'],
  ['HTML in SVG', '<svg><p>a</svg>'],
  ['a page that ends inside a tag', '<p>a</p><a href="'],
  ['NUL', '<p>\0'],
  ['a tree that is too deep', '<div>'.repeat(MAX_TREE_DEPTH)],
])('%s is left to parse5', (_, html) => {
  expect(tidyTree(html)).toBeUndefined();
  expect(shownTop(htmlTree(html).top)).toBe(shownTop(untidyTree(html).top));
});

/** Returns how many of the generated texts are tidy pages. */
function tidyOf<T>(arbitrary: fc.Arbitrary<T>, written: (parts: T) => string): number {
  let tidy = 0;
  const property = fc.property(arbitrary, (parts) => {
    if (expectSame(written(parts), 'a page')) tidy++;
  });
  fc.assert(property, { numRuns: RUNS, seed: SEED });
  return tidy;
}
