import type { TestSite } from '../site.ts';
import { htmlOf, pageOf, serve } from './serve.ts';

export const PRODUCTS = 40;
const ON_A_LIST = 10;

/** A review as its page shows it. */
interface Review {
  readonly stars: number;
  readonly text: string;
}

/** A product as its page shows it. */
export interface Product {
  readonly sku: string;
  readonly name: string;
  readonly price: number;
  readonly reviews: readonly Review[];
}

/** Builds product `n`, from 1. Every third one has no reviews, and the others have one or two. */
function productOf(n: number): Product {
  const reviews = Array.from({ length: n % 3 }, (_, at) => ({ stars: ((n + at) % 5) + 1, text: `Review ${at + 1}` }));
  return { sku: `P-${n}`, name: `Product ${n}`, price: 995.5 + n * 10, reviews };
}

export function allProducts(count = PRODUCTS): readonly Product[] {
  return Array.from({ length: count }, (_, at) => productOf(at + 1));
}

/** Serves a shop: `/all/` lists ten products on a page. Each has a picture, and links to its price and to its reviews if it has any. */
export function serveShop(site: TestSite, count = PRODUCTS): void {
  const all = allProducts(count);
  serve(site, '/all/', (url) => listPage(all, pageOf(url)));
  for (const [at, product] of all.entries()) {
    serve(site, `/product/${at + 1}`, () => productPage(at + 1, product));
    serve(site, `/product/${at + 1}/reviews`, () => reviewsPage(product));
    site.on(
      `/${product.sku}.png`,
      (_, response) => void response.setHeader('content-type', 'image/png').end(product.sku),
    );
    serve(site, `/product/${at + 1}/price`, () => pricePage(product));
  }
  site.on('/', (_, response) => void response.writeHead(302, { location: '/all/' }).end());
}

function listPage(all: readonly Product[], page: number): string {
  const products = all.slice((page - 1) * ON_A_LIST, page * ON_A_LIST);
  const items = products.map(
    ({ name, sku }) => `<li><a class="product" href="/product/${sku.slice(2)}"><img src="/${sku}.png">${name}</a></li>`,
  );
  const next = page * ON_A_LIST < all.length ? `<a class="next" rel="next" href="?page=${page + 1}">More</a>` : '';
  return htmlOf('Shop', `<nav><a href="/about">About</a></nav><ul>${items.join('')}</ul>${next}`);
}

function productPage(n: number, { name, sku, price, reviews }: Product): string {
  const shown = price.toLocaleString('de-DE', { minimumFractionDigits: 2 });
  const link =
    reviews.length === 0 ? '' : `<a class="reviews" href="/product/${n}/reviews">${reviews.length} reviews</a>`;
  const buy = `<a class="buy" href="/product/${n}/price">Buy</a>`;
  return htmlOf(name, `<h1>${name}</h1><span class="sku">${sku}</span><p class="price">${shown} €</p>${link}${buy}`);
}

function pricePage({ name, price }: Product): string {
  return htmlOf(`Buy ${name}`, `<p class="price">${price.toFixed(2)} €</p>`);
}

function reviewsPage({ name, reviews }: Product): string {
  const shown = reviews.map(
    ({ stars, text }) => `<div class="review"><b class="stars">${stars} of 5</b><p>${text}</p></div>`,
  );
  return htmlOf(`Reviews of ${name}`, shown.join(''));
}
