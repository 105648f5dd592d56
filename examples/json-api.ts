/**
 * A JSON API: a list of several pages, and a document for each product.
 *
 *     trawl crawl https://shop.example/api/products --crawler ./json-api.ts -o products.csv
 */
import { defineCrawler, z } from 'trawl';

export default defineCrawler({
  name: 'json-api',
  seeds: () => ['https://shop.example/api/products'],
  steps: {
    list: {
      to: ['product', 'list'],
      run({ page, follow }) {
        for (const { url } of page.json<{ url: string }[]>('items') ?? []) follow('product', url);
        follow('list', page.json<string>('next'));
      },
    },
    product: {
      record: z.object({ sku: z.string(), name: z.string(), price: z.number(), inStock: z.boolean() }),
      run({ page, emit }) {
        const stock = page.json<number>('stock') ?? 0;
        emit({ sku: page.json('sku'), name: page.json('name'), price: page.json('price.amount'), inStock: stock > 0 });
      },
    },
  },
});
