import { describe, expect, test } from 'vitest';
import { Page } from '../../../../../shared/crawler/page.ts';

const SHOP = Page.fromHtml(
  `<!doctype html><title> A  shop </title><base href="/b/">
<meta name=Description content=" All   we sell "><meta property=og:title content="Shop"><meta property="og:title" content="other">
<meta property="og:image:width" content=5><meta property="article:author" content="Ann">
<script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"Product","name":"A
lamp"},[{"@type":["schema:Offer"],"price":5}]]}</script><script type="application/ld+json">{broken</script>
<div id=a class="x y"><h1>Two<br>lines</h1><p>Price: <b>1.299,00 €</b><p>see <a href="c?x=1#f">c</a> <a href="c?x=1">c</a>
<a href="mailto:x@y">m</a> <a href="http://u:p@h.test/">h</a><script>no text</script></div>
<template><p>not there</p></template><ul><li>1<li>2<li>3</ul>`,
  { url: 'http://shop.test/dir/page' },
);

test('a page gives the text, attributes and numbers of its elements', () => {
  expect(SHOP.title).toBe('A shop');
  expect(SHOP.get('h1')).toBe('Two lines');
  expect(SHOP.get('#a')).toBe('Two lines Price: 1.299,00 € see c c m h');
  expect(SHOP.all('p').map(({ text }) => text)).toEqual(['Price: 1.299,00 €', 'see c c m h']);
  expect(SHOP.attr('#a', 'class')).toBe('x y');
  expect(SHOP.attr('#a', 'CLASS')).toBe('x y');
  expect(SHOP.attr('p a', 'href')).toBe('c?x=1#f');
  expect(SHOP.number('b')).toBe(1299);
  expect(SHOP.number('p', { decimal: '.' })).toBe(1.299);
});

test('an element has the tools of its page', () => {
  const [element] = SHOP.all('#a');
  expect(element?.attr('id')).toBe('a');
  expect(element?.name).toBe('div');
  expect(element?.all('> p').length).toBe(2);
  expect(element?.all('div p').length, 'selectors look inside the element').toBe(0);
  expect(element?.get('b')).toBe('1.299,00 €');
  expect(element?.number()).toBe(1299);
  expect(element?.links()).toEqual(['http://shop.test/b/c?x=1', 'http://h.test/']);
  expect(element?.match(/Price: (\S+)/)).toBe('1.299,00');
  expect(element?.all('h1')[0]?.html).toBe('<h1>Two<br>lines</h1>');
});

test('tools return undefined or an empty list for what is missing', () => {
  const [element] = SHOP.all('#a');
  for (const tools of [SHOP, element ?? SHOP]) {
    expect([
      tools.get('i'),
      tools.attr('i', 'x'),
      tools.attr('#a', 'y'),
      tools.number('i'),
      tools.number('h1'),
    ]).toEqual(new Array(5).fill(undefined));
    expect([tools.table('i'), tools.table(), tools.match(/zzz/)]).toEqual([undefined, undefined, undefined]);
    expect([tools.all('i'), tools.links('i'), tools.matchAll(/zzz/), tools.xpath('//i')]).toEqual([[], [], [], []]);
  }
  expect([SHOP.meta('i'), SHOP.markdown('i'), SHOP.json(), SHOP.json('a'), SHOP.canonical]).toEqual(
    new Array(5).fill(undefined),
  );
  expect(SHOP.jsonLd('Event')).toEqual([]);
  const empty = Page.fromHtml('');
  expect([empty.title, empty.get('p'), empty.links(), empty.openGraph, empty.jsonLd(), empty.markdown()]).toEqual([
    undefined,
    undefined,
    [],
    {},
    [],
    '',
  ]);
});

test('links of elements follow the rules of the links of the page', () => {
  expect(SHOP.links()).toEqual(['http://shop.test/b/c?x=1', 'http://h.test/']);
  expect(SHOP.links('body')).toEqual(SHOP.links());
  expect(SHOP.links('a, #a')).toEqual(SHOP.links());
  expect(SHOP.links('p > a:first-child')).toEqual(['http://shop.test/b/c?x=1']);
});

test('a page gives its JSON-LD, Open Graph and meta values', () => {
  expect(SHOP.jsonLd()).toEqual([
    { '@type': 'Product', name: 'A lamp' },
    { '@type': ['schema:Offer'], price: 5 },
  ]);
  expect(SHOP.jsonLd('https://schema.org/Offer')).toEqual([{ '@type': ['schema:Offer'], price: 5 }]);
  expect(SHOP.openGraph).toEqual({ title: 'Shop', 'image:width': '5', 'article:author': 'Ann' });
  expect([SHOP.meta('description'), SHOP.meta('og:title')]).toEqual(['All we sell', 'Shop']);
});

test('JSON-LD in a comment or CDATA is read', () => {
  for (const [before, after] of [
    ['<!--', '-->'],
    ['//<![CDATA[\n', '\n//]]>'],
    ['/*<![CDATA[*/', '/*]]>*/'],
  ]) {
    const page = Page.fromHtml(`<script type="application/ld+json">${before}{"@type":"A"}${after}</script>`);
    expect(page.jsonLd('A'), before).toEqual([{ '@type': 'A' }]);
  }
});

test('a regular expression gives its group, or the whole match without one', () => {
  const page = Page.fromHtml('{"id":1,"id":2}', { contentType: 'application/json' });
  const all = /"id":(\d)/g;
  expect([page.match(all), page.match(all), page.match(/"id":\d/)], 'a g keeps no place').toEqual(['1', '1', '"id":1']);
  expect(page.matchAll(/"id":(\d)/)).toEqual(['1', '2']);
  expect(page.match(/(x)|i(d)/)).toBe('d');
});

// biome-ignore format: a table
test.each([
  ['a.b[0].c', 1],
  ['a.b.0',    { c: 1 }],
  ['t',        null],
  ['a.x.y',    undefined],
  ['toString', undefined],
])('the JSON at path %s is %j', (path, value) => {
  expect(Page.fromHtml('\ufeff{"a":{"b":[{"c":1}]},"t":null}', { contentType: 'application/json' }).json(path)).toEqual(value);
});

describe('tables', () => {
  const tables =
    Page.fromHtml(`<table id=head><thead><tr><th rowspan=2>Name<th colspan=2>Price<tr><th>net<th>gross</thead>
<tr><td rowspan=2>A<td>1<td>2<tr><td>3|x<td>4</table><table id=none><tr><td>q<td>r<tr><td>s</table>
<div id=in><table><tr><th>N<th>N<th></th><th><tr><td>1<td>2<td>3<td>4<td>5<tr><td><table><tr><td>inner</table></table></div>`);

  test('rows are objects by header, with spanning cells repeated in each place', () => {
    expect(tables.table()).toEqual([
      { Name: 'A', 'Price net': '1', 'Price gross': '2' },
      { Name: 'A', 'Price net': '3|x', 'Price gross': '4' },
    ]);
  });

  test('columns without a name are numbered, and a second one of the same name gets a number added', () => {
    expect(tables.table('#in')).toEqual([{ N: '1', 'N 2': '2', 3: '3', 4: '4', 5: '5' }, { N: 'inner' }]);
  });

  test('a table without a header has columns by number, or lists', () => {
    expect(tables.table('#none')).toEqual([{ 0: 'q', 1: 'r' }, { 0: 's' }]);
    expect(tables.table('#none', { header: false })).toEqual([['q', 'r'], ['s']]);
  });

  test('tables are written in markdown', () => {
    expect(tables.markdown('#none')).toBe('|  |  |\n| --- | --- |\n| q | r |\n| s |  |');
    expect(tables.markdown('#head')).toContain('|  | 3\\|x | 4 |');
  });
});

// biome-ignore format: a table
test.each([
  ['a summary is apart from its details',    '<details><summary>More</summary>Text</details>',                          'More\n\nText'],
  ['a button in a heading is its text',      '<h3><button>Question?</button></h3><p>Answer</p><button>Buy</button>',     '### Question?\n\nAnswer'],
  ['a table has its caption',                '<table><caption>Prices</caption><tr><td>a<td>b<tr><td>1<td>2</table>',     'Prices\n\n|  |  |\n| --- | --- |\n| a | b |\n| 1 | 2 |'],
  ['a picture in a data: URL is left out',   '<p>a<img src="data:image/png;base64,iVBORw0KGgo=" alt="x"></p>',           'a'],
  ['a picture that is loaded later is kept', '<img src="data:image/gif;base64,R0lGOD" data-src="/a.jpg" alt="x">',       '![x](https://e.test/a.jpg)'],
  ['a javascript: link has no address',      '<a href="java&#10;script:alert(1)">Menu</a> <a href="mailto:a@b.c">m</a> <a href="">here</a>', 'Menu [m](mailto:a@b.c) here'],
])('in markdown %s', (_, html, markdown) => {
  expect(Page.fromHtml(html, { url: 'https://e.test/x' }).markdown()).toBe(markdown);
});

test('markdown has headings, lists, code and absolute links', () => {
  const page = Page.fromHtml(
    `<h2>T</h2><p>a <b>b</b> <i>c</i> <a href="/x">l</a></p><script>s</script><ul><li>1<ul><li>2</ul></ul>
<pre><code class="language-js">a = 1 &lt; 2;\n  b</code></pre><img src=i.png alt=I>`,
    { url: 'https://m.test/d/' },
  );
  expect(page.markdown()).toBe(
    '## T\n\na **b** *c* [l](https://m.test/x)\n\n-   1\n    -   2\n\n```js\na = 1 < 2;\n  b\n```\n\n![I](https://m.test/d/i.png)',
  );
  expect(page.markdown('h2')).toBe('## T');
});

test('XPath finds elements, attributes, texts and values', () => {
  expect(SHOP.xpath('//li/text()').map(({ text }) => text)).toEqual(['1', '2', '3']);
  expect(SHOP.xpath('//a/@href').map(({ text }) => text)[1]).toBe('c?x=1');
  expect(SHOP.xpath('count(//li)')[0]?.number()).toBe(3);
  expect(SHOP.xpath('//p[contains(., "see")]')[0]?.links().length).toBe(2);
  expect(SHOP.all('ul')[0]?.xpath('li[last()]')[0]?.text).toBe('3');
  expect(SHOP.xpath('//li/following-sibling::li[1]').map(({ text }) => text)).toEqual(['2', '3']);
  const mixed = Page.fromHtml('<dl><dt>a<dd>1<dd>2<dt>b<dd>3</dl>');
  expect(mixed.xpath('//dt/following-sibling::dd[1]').map(({ text }) => text)).toEqual(['1', '3']);
  expect(mixed.xpath('//dd/preceding-sibling::dt[1]').map(({ text }) => text)).toEqual(['a', 'b']);
  expect(mixed.xpath('//dd[following-sibling::dt]').map(({ text }) => text)).toEqual(['1', '2']);
  expect(mixed.xpath('//dt[preceding-sibling::dt]').map(({ text }) => text)).toEqual(['b']);
});

test.each([
  [() => SHOP.get('a['), /^Invalid selector "a\[": /],
  [() => SHOP.all(':nope'), /^Invalid selector ":nope": /],
  [
    () => SHOP.all('li:nth-child(x)'),
    /^Invalid selector "li:nth-child\(x\)": expected a place such as 2, odd or 3n\+1, got "x"$/,
  ],
  [() => SHOP.links('>>'), /^Invalid selector ">>": /],
  [
    () => SHOP.get('h1::text'),
    /^Invalid selector "h1::text": .+\. get\(css\) has the text of an element, attr\(css, name\) an attribute$/,
  ],
  [() => SHOP.get('//h1'), /^Invalid selector "\/\/h1": .+\. An XPath expression is for xpath\(expression\)$/],
  [
    () => SHOP.all('li:first a'),
    /^Invalid selector "li:first a": .+\. all\(css\) is a list, of which all\(css\)\[0\] is the first and all\(css\)\.at\(-1\) the last$/,
  ],
  [() => SHOP.all('li:first-child['), /^Invalid selector "li:first-child\[": (?!.*is a list)/],
  [() => SHOP.xpath('//['), /^Invalid XPath "\/\/\[": XPST0003: /],
])('an invalid selector is named: %s', (use, message) => {
  expect(use).toThrow(message);
});

describe('XML', () => {
  const FEED = `<?xml version="1.0"?><rss xmlns:dc="u"><channel><item><title>A &amp; B</title><link>http://x.test/1#f</link>
<dc:creator><![CDATA[Me <x>]]></dc:creator></item><Item/></channel></rss>`;

  test.each(['application/rss+xml', 'text/xml'])('%s is read by its own rules', (contentType) => {
    const page = Page.fromHtml(FEED, { contentType });
    expect([page.get('item > title'), page.get('dc\\:creator'), page.all('Item').length]).toEqual([
      'A & B',
      'Me <x>',
      1,
    ]);
    expect([page.links('item'), page.links(), page.title]).toEqual([['http://x.test/1'], [], undefined]);
    expect(page.xpath('//dc:creator/text()').map(({ text }) => text)).toEqual(['Me <x>']);
    expect(page.xml('item').length).toBe(1);
  });

  test('that a server calls HTML is read with xml()', () => {
    expect(
      Page.fromHtml(FEED)
        .xml('item > link')
        .map(({ text }) => text),
    ).toEqual(['http://x.test/1#f']);
  });

  test('XHTML is HTML whose elements can be self-closing', () => {
    const page = Page.fromHtml('<html><body><div/><p>a&nbsp;b</p></body></html>', {
      contentType: 'application/xhtml+xml',
    });
    expect(page.get('body > p')).toBe('a b');
  });
});

describe('a page for tests', () => {
  test('has the options it was made with', () => {
    const page = Page.fromHtml('<p>é', {
      url: 'http://h.test:81/%7ea',
      status: 404,
      headers: { 'x-a': 'b' },
      task: { depth: 2 },
    });
    expect([page.url, page.status, page.headers['x-a'], page.contentType]).toEqual([
      'http://h.test:81/%7ea',
      404,
      'b',
      'text/html',
    ]);
    expect(page.task).toMatchObject({
      url: 'http://h.test:81/%7ea',
      host: 'h.test:81',
      mark: 'http://h.test:81/~a',
      depth: 2,
    });
    expect(page.get('p')).toBe('é');
  });

  test('can be bytes in any encoding', () => {
    expect(Page.fromHtml(Buffer.from('<meta charset=latin1><p>é', 'latin1')).get('p')).toBe('é');
  });

  test('has a URL that can be crawled', () => {
    expect(() => Page.fromHtml('', { url: 'ftp://x/' })).toThrow('its scheme is ftp, not http or https');
  });
});

test('a page that has forgotten its tree parses itself again', () => {
  const page = Page.fromHtml('{"a":1}<p>one<p>two');
  const [before] = page.all('p');
  page.forgetTree();
  const [after] = page.all('p');
  expect(after?.html).toBe('<p>one</p>');
  expect(after?.html).toBe(before?.html);
  expect(page.all('p').length).toBe(2);
  expect(page.json('a')).toBe(undefined);
});

test('a selector means the same on every page, in an element, in HTML and in XML', () => {
  const html = (id: string): Page => Page.fromHtml(`<div id=${id}><Item><b>${id}</b></Item></div>`);
  const xml = Page.fromHtml('<r><Item><b>x</b></Item><item><b>y</b></item></r>', { contentType: 'application/xml' });
  for (const page of [html('one'), xml, html('two'), xml]) {
    const found = page === xml ? ['x'] : [page.attr('div', 'id')];
    expect(page.all('Item b').map(({ text }) => text)).toEqual(found);
    const [element] = page.all(page === xml ? 'Item' : 'div');
    expect(element?.all('Item b').length, 'inside the element').toBe(page === xml ? 0 : 1);
  }
});
