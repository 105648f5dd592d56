import type { TestSite } from '../site.ts';
import { htmlOf, pageOf, serve } from './serve.ts';
import { allProducts, PRODUCTS } from './shop.ts';

const QUOTES = 25;
const ON_A_PAGE = 10;
export const ARTICLES = 6;
/** Part of each article, which would be too short to be one without it. */
export const PROSE = 'Who was there heard all of it, and nobody left before the last word was written. '
  .repeat(4)
  .trim();

/** Serves quotes on three list pages, ten on a page, and returns them. */
export function serveQuotes(site: TestSite): readonly { text: string; author: string; tags: string[] }[] {
  const quotes = Array.from({ length: QUOTES }, (_, n) => ({
    text: `Saying ${n + 1}`,
    author: `Author ${n % 4}`,
    tags: n % 2 === 0 ? ['life', 'fish'] : [],
  }));
  serve(site, '/quotes/', (url) => {
    const page = pageOf(url);
    const shown = quotes.slice((page - 1) * ON_A_PAGE, page * ON_A_PAGE).map(({ text, author, tags }) => {
      const marks = tags.map((tag) => `<a class="tag" href="/tag/${tag}">${tag}</a>`).join(' ');
      return `<div class="quote"><span class="text">${text}</span> by <small class="author">${author}</small> ${marks}</div>`;
    });
    const next = page * ON_A_PAGE < QUOTES ? `<li class="next"><a href="?page=${page + 1}">Next</a></li>` : '';
    return htmlOf('Quotes', shown.join('\n') + next);
  });
  return quotes;
}

/** Serves a front page and a section whose articles overlap. Each article describes itself in JSON-LD. */
export function serveNews(site: TestSite): void {
  const teaser = (n: number): string => `<article><h2><a href="/2026/11/article-${n}">Headline ${n}</a></h2></article>`;
  const list = (from: number, to: number): string =>
    Array.from({ length: to - from + 1 }, (_, at) => teaser(from + at)).join('');
  serve(site, '/front/', () => htmlOf('News', `<nav class="sections"><a href="/sport/">Sport</a></nav>${list(1, 4)}`));
  serve(site, '/sport/', () => htmlOf('Sport', list(3, ARTICLES)));
  for (let n = 1; n <= ARTICLES; n++) {
    const about = {
      '@type': 'NewsArticle',
      headline: `Headline ${n}`,
      datePublished: `2026-11-0${n}T08:00:00Z`,
      author: [{ '@type': 'Person', name: `Reporter ${n % 2}` }],
    };
    const data = `<script type="application/ld+json">${JSON.stringify(about)}</script>`;
    const share = '<ul class="share"><li><a href="/share">Share</a></li></ul>';
    const related = `<div class="related"><h2>More</h2><p><a href="/2026/11/article-1">Headline 1</a></p></div>`;
    const text = `<main><h1>Headline ${n}</h1>${share}<p>It was <b>said</b> in town ${n}. ${PROSE}</p>${related}</main>`;
    serve(site, `/2026/11/article-${n}`, () => htmlOf(`Headline ${n}`, `${data}${text}<footer>All rights</footer>`));
  }
}

/** Serves an API of the shop's products: list pages, and a document for each product. */
export function serveApi(site: TestSite): void {
  const json = (path: string, of: (url: URL) => unknown): void =>
    site.on(path, ({ url }, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(of(new URL(url ?? '', site.origin))));
    });
  json('/api/products', (url) => {
    const page = pageOf(url);
    const items = allProducts().slice((page - 1) * ON_A_PAGE, page * ON_A_PAGE);
    return {
      items: items.map(({ sku }) => ({ sku, url: `/api/products/${sku}` })),
      next: page * ON_A_PAGE < PRODUCTS ? `/api/products?page=${page + 1}` : null,
    };
  });
  for (const { sku, name, price, reviews } of allProducts())
    json(`/api/products/${sku}`, () => ({
      sku,
      name,
      price: { amount: price, currency: 'EUR' },
      stock: reviews.length,
    }));
}
