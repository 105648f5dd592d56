import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Categories, each with a list of its own, so that a crawl has enough to do from its start. The navigation of every page links to all of them. */
const CATEGORIES = 10;
/** Products on a page of a list. With the navigation that makes 30 links, as many as on other pages of the bench. */
const PRODUCTS = 20;
const PAGE_BYTES = 10_000;
const REVIEWS = 10;

export interface Shop {
  /** The first list of each category. All other pages are linked from there. */
  readonly seeds: readonly string[];
  /** Number of lists, products, and pages of reviews. */
  readonly pages: number;
}

/** Writes a shop for the crawler of `examples/shop.ts`, of at least this many pages of 10 KB, which `startOrigin` serves. */
export async function writeShop(folder: string, origin: string, atLeast: number): Promise<Shop> {
  const root = join(folder, 'site');
  await mkdir(join(root, 'all'), { recursive: true });
  await writeFile(join(root, 'product.html'), page(PRODUCT));
  await writeFile(join(root, 'reviews.html'), page(Array.from({ length: REVIEWS }, (_, n) => review(n)).join('\n')));
  const pagesOfList = 1 + 2 * PRODUCTS;
  const lists = Math.ceil(atLeast / (CATEGORIES * pagesOfList));
  for (let category = 0; category < CATEGORIES; category++)
    for (let n = 0; n < lists; n++)
      await writeFile(join(root, listPath(category, n)), page(list(category, n, n + 1 < lists)));
  return {
    seeds: Array.from({ length: CATEGORIES }, (_, category) => `${origin}${listPath(category, 0)}`),
    pages: CATEGORIES * lists * pagesOfList,
  };
}

function listPath(category: number, n: number): string {
  return `/all/${category}-${n}.html`;
}

function list(category: number, n: number, hasNext: boolean): string {
  const products = Array.from({ length: PRODUCTS }, (_, product) => {
    const id = `${category}-${n}-${product}`;
    return `<li><a class="product" href="/product/${id}/">Product ${id}, with a name as long as most</a></li>`;
  });
  const next = hasNext ? `<a class="next" rel="next" href="${listPath(category, n + 1)}">Next</a>` : '';
  return `<ul>${products.join('\n')}</ul>${next}`;
}

/** The link is relative, so that one file can serve all products. */
const PRODUCT =
  '<h1>A product of the bench</h1><p class="sku">B-1042</p><p class="price">1,299.00 €</p><a class="reviews" href="reviews">Reviews</a>';

function review(n: number): string {
  return `<div class="review"><span class="stars">${1 + (n % 5)}</span><p>It does what it says, and has done so for ${n} years.</p></div>`;
}

/** Returns a page of 10 KB with this content and a navigation. */
function page(content: string): string {
  const links = Array.from(
    { length: CATEGORIES },
    (_, n) => `<a class="nav-link" href="${listPath(n, 0)}">Category ${n}</a>`,
  );
  const head =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page of the shop</title></head><body>';
  let body = `<nav>${links.join('\n')}</nav><main>${content}`;
  for (let n = 0; head.length + body.length < PAGE_BYTES; n++)
    body += `<p class="text" id="p${n}">Lorem ipsum dolor sit amet, <b>consectetur</b> adipiscing elit, sed do eiusmod tempor.</p>\n`;
  return `${head}${body}</main></body></html>`;
}
