import { expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';
import { expectCpuBelow } from '../../../../support/hostile/cpu-limit.ts';

// As CommonMark reads it: a list ends where its marks change, and counts by itself from its first number.
// biome-ignore format: a table
test.each([
  ['two beside each other',              '<ol><li>a<li>b</ol> <ol><li>c</ol>',                    '1.  a\n2.  b\n\n1)  c'],
  ['bulleted ones beside each other',    '<ul><li>a</ul><div><ul><li>b</ul></div><ul><li>c</ul>', '-   a\n\n*   b\n\n-   c'],
  ['two with a text between',            '<ul><li>a</ul>x<ul><li>b</ul>',                         '-   a\n\nx\n\n-   b'],
  ['two with a picture between',         '<ul><li>a</ul><img src=/x><ul><li>b</ul>',              '-   a\n\n![](https://www.example.com/x)\n\n-   b'],
  ['two of different kinds',             '<ul><li>a</ul><ol><li>b</ol>',                          '-   a\n\n1.  b'],
  ['two in different items',             '<ul><li><ul><li>a</ul><li><ul><li>b</ul></ul>',         '-   -   a\n-   -   b'],
  ['one that continues another',         '<ol><li>a</ol><ol start=2><li>b</ol>',                  '1.  a\n\n2)  b'],
  ['items with numbers of their own',    '<ol><li value=3>a<li>b<li value=9>c</ol>',              '3.  a\n4.  b\n\n9)  c'],
  ['counting backwards',                 '<ol reversed><li>a<li>b</ol>',                          '2.  a\n\n1)  b'],
  ['counting backwards from a number',   '<ol start=10 reversed><li>a<li>b</ol>',                 '10.  a\n\n9)  b'],
  ['from zero',                          '<ol start=0><li>a</ol>',                                '0.  a'],
  ['from a negative number', '<ol start=-3><li>a<li>b</ol>',                         '1.  a\n2.  b'],
  ['from a number that is too long',     '<ol start=9999999999><li>a</ol>',                       '1.  a'],
  ['from something that is no number',   '<ol start=a><li>a</ol>',                                '1.  a'],
  ['in an item, not from 1',             '<ul><li>a<ol start=2><li>b</ol></ul>',                  '-   a\n    \n    2.  b'],
  ['in an item, from 1',                 '<ul><li>a<ol><li>b</ol></ul>',                          '-   a\n    1.  b'],
  ['in a list, outside its items',       '<ul><li>a</li><ul><li>b</ul><ol><li>c</ol><li>d</ul>',  '-   a\n    \n    -   b\n    \n    1.  c\n-   d'],
  ['without items',                      'x<ul>a <b>b</b></ul>',                                  'x\n\na **b**'],
])('lists: %s', (_, html, markdown) => {
  expect(Page.fromHtml(html).markdown()).toBe(markdown);
});

test('a list of very many items takes seconds', { timeout: 60_000 }, () => {
  const page = Page.fromHtml(
    `<ol>${'<li value=7>a'.repeat(24_000)}</ol><ul><li>${'<i>b</i>'.repeat(120_000)}</li><ul></ul></ul>`,
  );
  page.get('p');
  expectCpuBelow(8, () => expect(page.markdown()).toMatch(/^7\. {2}a\n\n7\) {2}a\n/));
});
