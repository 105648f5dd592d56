import { expect, test } from 'vitest';
import { afterManyExpressions } from '../../../../support/hostile/after-many-expressions.ts';

/** Pages with a run of one character in place of each `%`, and what a tool makes of them. */
const CASES: readonly (readonly [html: string, unit: string, use: string, expected: unknown])[] = [
  ['<p>a%b</p>', ' ', 'page.get("p")', 'a b'],
  ['<p>a%b</p>', '\n', 'page.readableText', 'a b'],
  ['<p>a%5</p>', '\t', 'page.number("p")', 5],
  ['<p title="a%b">', '\n', 'page.fragment(page.text).first("p").attr("title").length', 10_000_002],
  ['<meta name=a content="a%b">', ' ', 'page.meta("a")', 'a b'],
  ['<i itemscope><b itemprop=a>a%b</b></i>', ' ', 'page.microdata()[0]', { a: 'a b' }],
  ['<p>c</p><x%>d</x%>', '9', 'page.markdown()', 'c\n\nd'],
  ['<p>a</p><img srcset="/a 1x,%/b 2x">', ' ', 'page.markdown()', 'a\n\n![](https://shop.example/b)'],
  ['<p>a</p><svg%><p>b</p></svg%>', 'A', 'page.get("p")', 'a'],
  ['<script>v =%{a:%1%}%</script>', ' ', 'page.variable("v")', { a: 1 }],
  ['<script>v%= JSON.parse(%"[1]")</script>', '\n', 'page.variable("v")', [1]],
  ['<script>v = {a%: 1}</script>', 'n', 'Object.keys(page.variable("v"))[0].length', 10_000_001],
  ['<i itemscope itemtype="%a"></i>', ' ', 'page.microdata()[0]["@type"]', 'a'],
  ['<form><select name=s><option>a%b</select>', ' ', 'page.form("form").url', 'https://shop.example/?s=a+b'],
  [
    '<form accept-charset="%,gbk"><input name=s value=ä>',
    ' ',
    'page.form("form").url',
    'https://shop.example/?s=%26%23228%3B',
  ],
  ['<form accept-charset="%"><input name=s value=ä>', 'a ', 'page.form("form").url', 'https://shop.example/?s=%C3%A4'],
  ['<script type="application/ld+json">{"a":1,%}</script>', ' ', 'page.jsonLd()[0]', { a: 1 }],
  ['<script>v = %; v = 1</script>', '9', 'page.variable("v")', 1],
  ['<script>v = [1.%]; v = 1</script>', '9', 'page.variable("v")', 1],
];

const SCRIPT = `
const { Page } = await import(at('shared/crawler/page.ts'));
const found = {};
for (const [html, unit, use] of ${JSON.stringify(CASES)}) {
  const page = Page.fromHtml(html.replaceAll('%', () => unit.repeat(10_000_000)), { url: 'https://shop.example/' });
  try {
    found[html + ' ' + use] = (0, eval)('(page) => ' + use)(page);
  } catch (error) {
    found[html + ' ' + use] = String(error);
  }
}
console.log(JSON.stringify(found));
`;

test('tools work on a page with a run of ten million characters, even after many regular expressions', () => {
  const expected = Object.fromEntries(CASES.map(([html, , use, value]) => [`${html} ${use}`, value]));
  expect(afterManyExpressions(SCRIPT)).toEqual(expected);
});
