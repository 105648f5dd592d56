/**
 * A shop: lists of products, products, and their reviews. Makes one CSV for each step:
 *
 *     trawl crawl https://shop.example/all/ --crawler ./shop.ts --run shop
 *     trawl records shop --step product -o products.csv
 *     trawl records shop --step reviews -o reviews.csv
 */
import { defineCrawler, z } from 'trawl';

export default defineCrawler({
  name: 'shop',
  args: z.object({ category: z.string().default('all') }),
  seeds: ({ args }) => [`https://shop.example/${args.category}/`],
  patterns: { product: '/product/*' },
  steps: {
    list: {
      to: ['product', 'list'],
      run({ page, follow }) {
        follow('product', page.links('a.product'));
        follow('list', page.links('a.next'));
      },
    },
    product: {
      to: ['reviews'],
      record: z.object({ sku: z.string(), name: z.string(), price: z.number().positive(), url: z.url() }),
      run({ page, follow, emit }) {
        const sku = page.get('.sku');
        emit({ sku, name: page.get('h1'), price: page.number('.price'), url: page.url });
        follow('reviews', page.links('a.reviews'), { kept: { sku } });
      },
    },
    reviews: {
      keeps: z.object({ sku: z.string() }),
      record: z.object({ sku: z.string(), stars: z.int().min(1).max(5), text: z.string() }),
      run({ page, kept, emit }) {
        for (const review of page.all('.review'))
          emit({ sku: kept.sku, stars: review.number('.stars'), text: review.get('p') });
      },
    },
  },
});
