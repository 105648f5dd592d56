import { expect, test } from 'vitest';
import { Page } from '../../../../../../shared/crawler/page.ts';
import { expectCpuBelow } from '../../../../../support/hostile/cpu-limit.ts';

const pageOf = (html: string): Page => Page.fromHtml(html, { url: 'https://shop.test/a/' });

test('microdata is read in the form of JSON-LD', () => {
  const page = pageOf(`<div itemscope itemtype="https://schema.org/Product http://x.test/#Lamp" itemid="?p=1">
    <h1 itemprop="name">  A
      lamp </h1><img itemprop="image" src="l.png"><img itemprop="image" src="/m.png">
    <p><span itemprop="offers" itemscope itemtype="https://schema.org/Offer"><b itemprop="price" content="12.50">12,50 €</b>
      <link itemprop="availability" href="https://schema.org/InStock"><time itemprop="until" datetime="2026-01-01">soon</time></span>
    <data itemprop="sku gtin" value="77">no. 77</data><div itemscope><i itemprop="name">another</i></div></div>`);
  expect(page.microdata()).toEqual([
    {
      '@type': ['Product', 'Lamp'],
      '@id': 'https://shop.test/a/?p=1',
      name: 'A lamp',
      image: ['https://shop.test/a/l.png', 'https://shop.test/m.png'],
      offers: { '@type': 'Offer', price: '12.50', availability: 'https://schema.org/InStock', until: '2026-01-01' },
      sku: '77',
      gtin: '77',
    },
    { name: 'another' },
  ]);
  expect(page.microdata('https://schema.org/Lamp')).toEqual(page.microdata().slice(0, 1));
  expect(page.microdata('Offer').map(({ price }) => price)).toEqual(['12.50']);
  expect(page.microdata('Person')).toEqual([]);
});

test('RDFa Lite is read in the form of JSON-LD', () => {
  const page = pageOf(`<meta property="og:title" content="no object">
    <div vocab="https://schema.org/" typeof="Product" resource="#lamp"><h1 property="schema:name">A lamp</h1>
    <a property="url" href="/lamp">here</a><div property="offers" typeof="Offer"><i property="price">5</i></div></div>
    <p property="about" typeof="Thing"><i property="name">alone</i></p>`);
  expect(page.microdata()).toEqual([
    {
      '@type': 'Product',
      '@id': 'https://shop.test/a/#lamp',
      name: 'A lamp',
      url: 'https://shop.test/lamp',
      offers: { '@type': 'Offer', price: '5' },
    },
    { '@type': 'Thing', name: 'alone' },
  ]);
});

test('elements that an object refers to count as inside it, and no object is inside itself', () => {
  const page = pageOf(`<div itemscope itemref="b none b" id="a"><i itemprop="x">1</i></div>
    <p id="b"><i itemprop="brand" itemscope itemref="c"><i itemprop="name">B</i></i></p>
    <p id="c"><i itemprop="made" itemscope itemref="b"><i itemprop="y">2</i></i></p>`);
  expect(page.microdata()).toEqual([{ x: '1', brand: { name: 'B', made: { y: '2' } } }]);
});

const DEEP = 400;
test.each([
  ['nested properties', `<p itemscope>${'<i itemprop=a>'.repeat(DEEP)}${'x<b></b>'.repeat(90_000)}`],
  ['nested objects', '<i itemscope itemprop=a>'.repeat(DEEP).replace(' itemprop=a', '')],
  [
    'objects that refer to each other',
    `<i itemscope itemref=n0></i>${Array.from({ length: 50 }, (_, n) => `<p id=n${n}><i itemprop=a itemscope itemref=n${n + 1}></i><i itemprop=b itemscope itemref=n${n + 1}></i></p>`).join('')}`,
  ],
  [
    'a list that all objects refer to',
    `<div id=l>${'<i itemprop=a>x</i>'.repeat(50_000)}</div>${'<i itemscope itemref=l></i>'.repeat(50_000)}`,
  ],
  [
    'a text with many property names',
    `<p itemscope><i itemprop="${Array.from({ length: 10_000 }, (_, n) => n).join(' ')}">${'x'.repeat(100_000)}`,
  ],
])('the microdata of a hostile page is read in seconds and reported as cut: %s', { timeout: 60_000 }, (_, html) => {
  const page = pageOf(html);
  page.get('p');
  expectCpuBelow(8, () => expect(JSON.stringify(page.microdata()).length).toBeLessThan(2 ** 26));
  expect(page.truncated).toEqual(['tree']);
});
