import { selectAll } from 'css-select';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { htmlTree } from '../../../../../shared/crawler/tools/tree.ts';
import { expectCpuBelow } from '../../../../support/hostile/cpu-limit.ts';

const compounds = fc.constantFrom(
  ...['div', 'p', 'b', '.a', '.b', 'div.a', '*', '[title="1 > 2, 3"]', 'p:first-child', ':not(.a .b)', ':is(.a, p)'],
  ...[
    ':has(+ p)',
    ':has(~ .a)',
    'p:has(+ div b)',
    ':has(~ div > b)',
    ':has( + b~p )',
    ':not(:has(+b))',
    '.a:has(+ p:has(~ b))',
  ],
  ...[
    ':has(> p)',
    ':has(> .a b)',
    'div:has(>b):not(:has( > p > b))',
    ':has(> p:has(> b))',
    ':contains("xy")',
    ':icontains("XY")',
  ],
  ...[':has(+ p, ~ b)', ':has(> p + b)', ':has(p ~ b)', ':has(+ .a:nth-child(2))'],
);
const combinators = fc.constantFrom(' ', ' ', ' ', '\n ', '>', ' > ', ' + ', '~');
const selector = fc
  .tuple(
    fc.constantFrom('', '', '> ', ':scope '),
    compounds,
    fc.array(fc.tuple(combinators, compounds), { maxLength: 5 }),
  )
  .map(([start, first, others]) => `${start}${first}${others.flat().join('')}`);
const selectors = fc.array(selector, { minLength: 1, maxLength: 2 }).map((list) => list.join(', '));
const element = fc
  .tuple(fc.constantFrom('div', 'p', 'b'), fc.constantFrom('', ' class=a', ' class="a b"', ' title="1 > 2, 3"'))
  .map(([name, attribute]) => ({ start: `<${name}${attribute}>`, end: `</${name}>` }));
const markup = fc
  .tuple(fc.nat({ max: 20 }), fc.array(element, { maxLength: 5 }), fc.array(element, { maxLength: 4 }))
  .map(([depth, around, within]) => {
    const inner = within.map(({ start, end }, n) => `${start}${'xy'[n % 3] ?? '<br>'}${end}`).join('');
    const outer = around.reduce((html, { start, end }) => `${start}${html}${html}${end}`, inner);
    return `${'<div class=a>'.repeat(depth)}${outer}`;
  });

test('a selector finds the elements that css-select finds, at any depth, from the page and from an element', () => {
  fc.assert(
    fc.property(markup, selectors, (html, css) => {
      const { top } = htmlTree(html);
      for (const at of [top, ...top.all('div').slice(0, 2)]) {
        expect(at.all(css).map(({ node }) => node)).toEqual(selectAll(css, at.node));
      }
    }),
    { numRuns: 1_000, seed: 11 },
  );
});

test('`:has` looks at siblings that `:is` names, which css-select overlooks', () => {
  const page = Page.fromHtml('<h1>one</h1><p>x</p><h1>two</h1><div>x</div><h1>three</h1>');
  expect(page.all('h1:has(+ :is(p, div.a, h2))')).toHaveLength(1);
  expect(page.all('h1:has(~ :is(p, div))')).toHaveLength(2);
});

test('`:contains` and `:icontains` compare the text of an element, across the elements in it and in any order', () => {
  const page = Page.fromHtml('<div><p>Fo<b>o</b><br>bar</p><i>aaab</i></div><u>FOO</u>');
  const names = (css: string) => page.all(css).map(({ html }) => /\w+/.exec(html)?.[0]);
  expect(names('body :contains("Foo")')).toEqual(['div', 'p']);
  expect(names('body :icontains("foo")')).toEqual(['div', 'p', 'u']);
  expect(names('p:contains("o\nb"), b:contains("o"), i:contains("aab"), i:contains("")')).toEqual(['p', 'b', 'i']);
  expect(names('div:has(u:contains("FOO")), b:contains("ob")')).toEqual([]);
});

const DEEP = `<body>${'<div>'.repeat(450)}${'<p><a href=/1>1</a></p>'.repeat(60)}`;
const NESTED = `<body>${'<div>'.repeat(400)}${'<b>x</b>'.repeat(20_000)}`;
const WIDE = '<b>x</b>'.repeat(50_000);

test.each<[css: string, kind: string, html: string, count?: number]>([
  ['main div div a', 'deep', DEEP],
  ['main div div a:first-child', 'deep', DEEP],
  ['p ~ b', 'wide', WIDE],
  ['main p ~ b, p ~ b + i', 'wide', WIDE],
  ['b:has(+ i)', 'wide', WIDE],
  ['b:has(~ i a), i', 'wide', WIDE],
  ['div:has(> i), div:has(> div > p > i)', 'nested', NESTED],
  ['i:not(:has(+ b + i)), b:has(+ b:has(~ i))', 'wide', WIDE],
  [':contains("x")', 'nested', NESTED, 20_402],
  [':icontains("X")', 'nested', NESTED, 20_402],
])('searching for %s takes less than two seconds in a %s page', { timeout: 120_000 }, (css, _, html, count = 0) => {
  const page = Page.fromHtml(html);
  expectCpuBelow(2, () => expect(page.all(css)).toHaveLength(count));
});

test.each(['div div div[', 'div div ::x div', 'div div :nope', 'p:has(+ [)', 'p:has(~ :nope)'])(
  'an error names the selector %s as written',
  (css) => {
    expect(() => Page.fromHtml('<p>').all(css)).toThrow(`Invalid selector ${JSON.stringify(css)}: `);
    expect(() => Page.fromHtml('<p>').all(css)).not.toThrow(/within|related/);
  },
);
