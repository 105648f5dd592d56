import { expect, test } from 'vitest';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { Page } from '../../../../../shared/crawler/page.ts';
import { testCrawler } from '../../../../../shared/crawler/testing/test-crawler.ts';

const PROSE = 'The lamp was lit at dusk, and people came from all around the harbour to see what it would show them.';
const MENU = `<nav><a href=/>Home</a> <a href=/a>All about lamps</a></nav>`;

function pageOf(body: string, head = ''): Page {
  return Page.fromHtml(`<html lang=en-GB><head>${head}</head><body>${body}</body></html>`, {
    url: 'https://news.test/lamps/1',
  });
}

test('an article is the main content of a page, without its surroundings', () => {
  const { article } = pageOf(
    `<header class="masthead"><a href=/>The Harbour News</a></header>${MENU}
    <div class="layout"><div class="story">
      <h1>A lamp</h1><p class="byline">By <a rel=author href=/jo>Jo Lee</a></p>
      <p>${PROSE}</p><p>${PROSE}</p><div class="share-buttons">Share this with all of your friends and everybody else</div>
      <p>It was <b>bright</b>; see <a href="../tea">the tea</a>.</p><ul><li><a href=/x>A list within the text</a></ul>
    </div>
    <div class="related-stories"><h2>Related</h2><p>${PROSE} ${PROSE}</p></div>
    <aside><p>Buy now, as long as there are any: a subscription for all of the year.</p></aside></div>
    <section class="comments"><p>I don't think so, and I have been there when it happened. ${PROSE}</p></section>
    <footer>© The Harbour News, all rights reserved, 1 Quay Street, Harbour, and nobody else's.</footer>`,
    `<title>A lamp | The Harbour News</title><meta property="article:published_time" content="2026-11-27T07:00:00Z">
    <meta name=description content="What a lamp  showed.">`,
  );
  expect(article).toEqual({
    title: 'A lamp',
    byline: 'Jo Lee',
    published: '2026-11-27T07:00:00Z',
    language: 'en-GB',
    excerpt: 'What a lamp showed.',
    text: `A lamp\n${PROSE}\n${PROSE}\nIt was bright; see the tea.\nA list within the text`,
    markdown: `# A lamp\n\n${PROSE}\n\n${PROSE}\n\nIt was **bright**; see [the tea](https://news.test/tea).\n\n-   [A list within the text](https://news.test/x)`,
  });
});

test('documentation keeps its heading, code, tables, tabs and boxes, whatever its sections are called', () => {
  const { article } = pageOf(
    `${MENU}<div class="sidebar"><ul><li><a href=/1>Install</a><li><a href=/2>Sharing</a></ul></div>
    <main><header><h1>Sharing<a href="#sharing">¶</a></h1></header><p>${PROSE}</p>
      <section id="comments"><h2>Comments</h2><p>Lines that begin with a sign are left alone.</p>
        <pre><code class="language-js">share();\n  // all</code></pre></section>
      <section id="related-options"><h2>Related options</h2><div class="widget meta"><table><tr><th>name<th>is<tr><td>a<td>1</table></div>
        <div role=tabpanel hidden><pre>share --all</pre></div>
        <aside class="admonition note"><p>Only once.</p></aside></section></main>
    <div class="toc"><a href="#comments">Comments</a></div>`,
    '<title>Sharing — Lamps 1.2 documentation</title>',
  );
  expect(article?.title).toBe('Sharing');
  expect(article?.markdown).toBe(
    [
      `# Sharing\n\n${PROSE}\n\n## Comments\n\nLines that begin with a sign are left alone.`,
      '```js\nshare();\n  // all\n```\n\n## Related options\n\n| name | is |\n| --- | --- |\n| a | 1 |',
      '```\nshare --all\n```\n\n> Only once.',
    ].join('\n\n'),
  );
  expect(article?.text).toContain('share();\n  // all\nRelated options');
});

test('code beside the text is part of the article', () => {
  const { article } = pageOf(
    `${MENU}<main><h1>lamp</h1><pre>fn lamp() -> Light</pre><div class=doc><p>${PROSE}</p><p>${PROSE}</p></div></main>`,
  );
  expect(article?.text).toBe(`lamp\nfn lamp() -> Light\n${PROSE}\n${PROSE}`);
});

test('a heading above the article comes first', () => {
  const { article } = pageOf(
    `<header><h1>A lamp</h1><p>News of the day</p></header>${MENU}<div><div><p>${PROSE}</p><p>${PROSE}</p></div><p>Contact</p></div>`,
    '<meta property="og:title" content="A lamp">',
  );
  expect(article?.text).toBe(`A lamp\n${PROSE}\n${PROSE}`);
  expect(article?.markdown).toBe(`# A lamp\n\n${PROSE}\n\n${PROSE}`);
});

test('in a thread the comments are the article', () => {
  const posts = [1, 2, 3].map((n) => `<div class="comment"><b>user ${n}</b><p>${n}: ${PROSE}</p></div>`);
  const { article } = pageOf(`${MENU}<h1>Lamps?</h1><div class="comments">${posts.join('')}</div>`);
  for (const n of [1, 2, 3]) expect(article?.text).toContain(`${n}: ${PROSE}`);
  expect(article?.text).not.toContain('All about lamps');
});

test.each([
  ['nothing', ''],
  ['links', `<ul>${'<li><a href=/1>A lamp that was lit at dusk</a>'.repeat(20)}`],
  [
    'cards of other pages',
    ['a', 'b', 'c', 'd']
      .map((name) => `<div class=x><h2><a href=/${name}>${name}</a></h2><p>${PROSE}</p></div>`)
      .join(''),
  ],
  ['a few words', '<p>Not found</p>'],
])('a page of %s has no article', (_, body) => {
  expect(pageOf(MENU + body).article).toBeUndefined();
});

test('JSON has no article, and JSON-LD wins over the page for title, byline and date', () => {
  expect(Page.fromHtml('{"a":1}', { contentType: 'application/json' }).article).toBeUndefined();
  const data = {
    '@type': 'NewsArticle',
    headline: 'A lamp, lit',
    author: [{ name: 'Jo Lee' }, { name: 'Al Poe' }],
    datePublished: '2026-11-27',
  };
  const { article } = pageOf(
    `<p>${PROSE}</p>`,
    `<meta name=author content=Staff><script type="application/ld+json">${JSON.stringify(data)}</script>`,
  );
  expect(article).toMatchObject({
    title: 'A lamp, lit',
    byline: 'Jo Lee, Al Poe',
    published: '2026-11-27',
    excerpt: PROSE,
  });
});

test.each([
  ['<title>A lamp - Harbour News</title>', 'A lamp'],
  ['<title>A lamp: what it was like, and how</title>', 'A lamp: what it was like, and how'],
  ['<title>A lamp | x</title><meta property="og:title" content="A lamp and tea">', 'A lamp and tea'],
  ['<meta property="og:title" content="A lamp | News"><meta property="og:site_name" content=News>', 'A lamp'],
  ['', undefined],
])('an article with the head %s has the title %s', (head, title) => {
  expect(pageOf(`<p>${PROSE}</p>`, head).article?.title).toBe(title);
});

test('an article can be emitted as an item', async () => {
  const crawler = defineCrawler({
    name: 'articles',
    steps: { page: { run: ({ page, emit }) => void (page.article === undefined || emit(page.article)) } },
  });
  const { items } = await testCrawler(crawler, { html: `<title>A lamp</title><h1>A lamp</h1><p>${PROSE}</p>` });
  expect(items).toEqual([
    {
      title: 'A lamp',
      excerpt: PROSE,
      text: `A lamp\n${PROSE}`,
      markdown: `# A lamp\n\n${PROSE}`,
    },
  ]);
});

test('text that is cut never ends in half a character', () => {
  const long = pageOf(`<p>${'a'.repeat(999)}😀 ${PROSE}</p>`);
  expect(long.article?.excerpt).toBe('a'.repeat(999));
  const text = `${'a '.repeat(524_287)}a😀 ${PROSE}`;
  expect(pageOf(`<p>${text}</p>`).markdown()?.isWellFormed()).toBe(true);
});
