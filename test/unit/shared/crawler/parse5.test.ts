import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDocument } from '../../../../shared/crawler/document/document.ts';
import { mutate } from '../../../support/pages/mutation.ts';
import { generatePage } from '../../../support/pages/page-generator.ts';
import { readByParse5 } from '../../../support/parse5-document.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

const URL_OF_PAGE = 'http://example.com/dir/page.html';
const SAVED = join(import.meta.dirname, '../../../support/pages/saved');
const PAGES = 100;
const MUTATIONS = 2_000;
const SEED = 9;

/** Saved pages, and generated ones to make them a hundred. */
const saved = readdirSync(SAVED)
  .filter((name) => name.endsWith('.html'))
  .map((name) => ({ name, html: readFileSync(join(SAVED, name), 'utf8') }));
const generated = Array.from({ length: PAGES - saved.length }, (_, n) => ({
  name: `page ${n} of seed ${SEED}`,
  html: generatePage(SEED * 1_000 + n),
}));
const pages = [...saved, ...generated];

function expectSame(html: string, name: string): void {
  const { title, links, canonical } = readDocument(html, URL_OF_PAGE);
  expect({ title, links: links.toSorted(), canonical }, name).toEqual(readByParse5(html, URL_OF_PAGE));
}

describe('links, title and canonical URL are those of the tree that parse5 makes', () => {
  test('of a hundred pages', () => {
    for (const { html, name } of pages) expectSame(html, name);
    const links = pages.map(({ html }) => readDocument(html, URL_OF_PAGE).links.length);
    expect(Math.min(...links.filter((count) => count > 0)), 'they are not all empty').toBeGreaterThan(0);
    expect(links.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1_000);
  });

  test('of 2,000 mutations of them', { timeout: 120_000 }, () => {
    for (const [n, { html, name }] of pages.entries()) {
      const random = new SeededRandom(SEED * PAGES + n);
      for (let at = 0; at < MUTATIONS / PAGES; at++) expectSame(mutate(html, random), `mutation ${at} of ${name}`);
    }
  });

  test('of any mixture of tags', () => {
    fc.assert(
      fc.property(markup, fc.boolean(), (html, isProbed) => {
        expectSame(isProbed ? html + PROBES : html, 'a mixture');
      }),
      { numRuns: 3_000, seed: SEED },
    );
  });

  test('of any attributes and titles', () => {
    fc.assert(
      fc.property(attributes, (html) => expectSame(html, 'attributes')),
      { numRuns: 3_000, seed: SEED },
    );
  });
});

const NAMES =
  `a b i font nobr p div span li ul ol dd dt dl h1 h2 button form select option optgroup table caption colgroup col
  tbody thead tfoot tr td th template svg math title style script textarea xmp iframe noembed noframes noscript foreignObject desc
  mi mo mtext annotation-xml mglyph path g object applet marquee body html head frameset frame base link meta area br hr img
  input ruby rt rp pre plaintext details summary fieldset x-y center address`.split(/\s+/);
const ATTRIBUTES = [
  '',
  '',
  '',
  ' href=/1',
  ' href="/2"',
  ' href=/3 href=/4',
  ' rel=canonical href=/c',
  ' encoding=text/html',
];
const ODD_ATTRIBUTES = [' color=red', '/', ' type=hidden', ' =', ' "', ' x=">"'];
const TEXTS = [
  't',
  ' ',
  '\n',
  '&amp;',
  '<!--',
  '-->',
  '--!>',
  '<![CDATA[',
  ']]>',
  '<?x?>',
  '<!doctype html>',
  '</',
  '<',
  '</>',
  '\0',
];
const ELEMENTS = ['<a href=/z>z</a>', '<title>T</title>', '<a href=/y>', '<base href=/b/>'];
/** Markup whose reading shows how the markup before it was understood. */
const PROBES = '<style><a href=/in></style><title>E</title><a href=/e><link rel=canonical href=/cc><base href=/bb/>';

const markup = fc
  .array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc
          .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...ATTRIBUTES, ...ODD_ATTRIBUTES))
          .map(([name, attribute]) => `<${name}${attribute}>`),
      },
      {
        weight: 4,
        arbitrary: fc
          .tuple(fc.constantFrom(...NAMES), fc.constantFrom('', '', '', '', ' x=">"', '/'))
          .map(([name, attribute]) => `</${name}${attribute}>`),
      },
      { weight: 3, arbitrary: fc.constantFrom(...TEXTS, ...ELEMENTS) },
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

const PIECES = [
  ...'/ // /a a b.html ? ?x=1 &copy &copy=1 &amp; &amp &#47; &#x2f &#35; &nbsp; &notit; &not; &not # #f . .. ./ ../ %2e %zz'.split(
    ' ',
  ),
  ...': http: https: HTTP:// http://h.test http://u:p@h.test javascript: mailto: ftp://x/ data:,x \\ é = < > ; @ [ ] | ^ `'.split(
    ' ',
  ),
  ...[
    '\0',
    '\x01',
    '\x1f',
    '\x7f',
    '\u{1f600}',
    '\ud800',
    '\u00a0',
    '\u2028',
    '\u3000',
    ' ',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '\f',
    '  ',
  ],
];
const value = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join(''));
const attribute = fc
  .tuple(
    fc.constantFrom('href', 'HREF', 'hRef', 'rel', 'href ', 'x'),
    fc.constantFrom('=', ' = ', '=\n', ''),
    fc.constantFrom('"', "'", ''),
    value,
  )
  .map(([name, equals, quote, text]) => {
    if (equals === '') return name;
    return `${name}${equals}${quote}${quote === '' ? text : text.replaceAll(quote, '')}${quote}`;
  });
const element = fc
  .tuple(
    fc.constantFrom('a', 'area', 'A', 'base', 'link rel=canonical', 'svg><a'),
    fc.array(attribute, { maxLength: 3 }),
    fc.constantFrom('', ' ', '/', ' /', '>x</a'),
  )
  .map(([name, list, end]) => `<${name} ${list.join(' ')}${end}>`);
const attributes = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: element },
      { weight: 1, arbitrary: value.map((text) => `<title>${text}</title>`) },
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));
