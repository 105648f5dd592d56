/** A crawler to start from: it reads lists of products, and the products. */
export function crawlerText(name: string): string {
  return `import { defineCrawler, z } from 'trawl';

export default defineCrawler({
  name: '${name}',
  // The step at which a matching seed starts. All other seeds start at the first step.
  patterns: { product: '/product/*' },
  steps: {
    list: {
      to: ['product', 'list'],
      run({ page, follow }) {
        follow('product', page.links('a.product'));
        follow('list', page.links('a[rel=next]'));
      },
    },
    product: {
      // A value that isn't on the page is undefined. The schema says which ones must be there.
      record: z.object({ name: z.string(), price: z.number(), url: z.url() }),
      run({ page, emit }) {
        emit({ name: page.get('h1'), price: page.number('.price'), url: page.url });
      },
    },
  },
});
`;
}

/** The crawler's test, on saved pages. */
export function testText(name: string): string {
  return `import { readFileSync } from 'node:fs';
import { testCrawler } from 'trawl';
import { expect, test } from 'vitest';
import crawler from '../crawlers/${name}.ts';

const saved = (file: string): string => readFileSync(new URL(\`pages/\${file}\`, import.meta.url), 'utf8');

test('a list leads to its products, and to the next list', async () => {
  const { items, follows } = await testCrawler(crawler, { html: saved('list.html'), url: 'https://shop.example/' });
  expect(items).toEqual([]);
  expect(follows).toEqual([
    { step: 'product', url: 'https://shop.example/product/1' },
    { step: 'product', url: 'https://shop.example/product/2' },
    { step: 'list', url: 'https://shop.example/?page=2' },
  ]);
});

test('a product has a name and a price', async () => {
  const url = 'https://shop.example/product/1';
  const { items } = await testCrawler(crawler, { html: saved('product.html'), url });
  expect(items).toEqual([{ name: 'Blue teapot', price: 1299.5, url }]);
});
`;
}

export const LIST_PAGE = `<!doctype html>
<title>All products</title>
<ul>
  <li><a class="product" href="/product/1">Blue teapot</a></li>
  <li><a class="product" href="/product/2">Red teapot</a></li>
</ul>
<a rel="next" href="/?page=2">Next page</a>
`;

export const PRODUCT_PAGE = `<!doctype html>
<title>Blue teapot</title>
<h1>Blue teapot</h1>
<p class="price">$1,299.50</p>
`;
