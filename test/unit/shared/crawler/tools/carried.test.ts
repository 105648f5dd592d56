import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';

const NEXT = { props: { name: 'a  lamp\n', price: [1, { of: '<b>5</b>' }] } };

/** A page with one script. */
const pageWith = (script: string): Page => Page.fromHtml(`<body><script id=data>${script}</script>`);

test('JSON in a script is read as it is written, white space in its strings included', () => {
  const data = pageWith(JSON.stringify(NEXT)).first('#data');
  expect(data?.json()).toEqual(NEXT);
  expect(data?.json('props.price[1].of')).toBe('<b>5</b>');
  expect([data?.json('props.none'), pageWith('var a = 1').first('#data')?.json()]).toEqual([undefined, undefined]);
});

test('the text of any element can be read as JSON', () => {
  const page = Page.fromHtml('<div class=props>{"a": "x &amp; y"}</div><p>null</p>');
  expect(page.first('.props')?.json('a')).toBe('x & y');
  expect(page.first('p')?.json()).toBeNull();
});

test.each([
  ['[1, 2, ]', [1, 2]],
  ['{"a": [1,\n], "b": {"c": ",]", },}', { a: [1], b: { c: ',]' } }],
  [String.raw`{"a": "\",}", }`, { a: '",}' }],
  ['<!-- {"a": 1,} -->;', { a: 1 }],
  ['[1,,]', undefined],
  ['{"a": "b,}', undefined],
])('a comma after the last item is forgiven: %s', (written, value) => {
  expect(pageWith(written).first('#data')?.json()).toEqual(value);
});

const FEED = Page.fromHtml(
  JSON.stringify({ html: '<article><h2>One</h2><a href="?page=2">more</a></article>', rows: '<tr><td>1<td>2' }),
  {
    url: 'https://forum.test/t/1?page=1',
    contentType: 'application/json',
  },
);

test('HTML in JSON has the tools of a page, with links relative to the page', () => {
  const fragment = FEED.fragment(FEED.json('html') ?? '');
  expect(fragment.get('article > h2')).toBe('One');
  expect(fragment.links()).toEqual(['https://forum.test/t/1?page=2']);
  expect(fragment.markdown()).toBe('## One\n\n[more](https://forum.test/t/1?page=2)');
  expect(FEED.links()).toEqual([]);
});

test('a fragment can be table rows without their table, and nothing is added to it', () => {
  expect(
    FEED.fragment(FEED.json('rows') ?? '')
      .all('tr > td')
      .map(({ text }) => text),
  ).toEqual(['1', '2']);
  expect(FEED.fragment('<option>a<option>b').all('option').length).toBe(2);
  expect(FEED.fragment('a <b>c</b></template><i>d</i>').text).toBe('a cd');
  expect(FEED.fragment('').text).toBe('');
});

test('a fragment with too many elements marks its page as cut', () => {
  const page = Page.fromHtml('{}', { contentType: 'application/json' });
  page.fragment('<p>'.repeat(200_001));
  expect(page.truncated).toEqual(['tree']);
});
