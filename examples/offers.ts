/**
 * A shop whose offers are spread over several pages: one record for each product, joined from all its pages, and a report on the whole run:
 *
 *     trawl crawl https://shop.example/all/ --crawler ./offers.ts --run offers
 *     trawl records offers --step offer -o offers.csv
 */
import { defineCrawler, z } from 'trawl';

export default defineCrawler({
  name: 'offers',
  steps: {
    list: {
      to: ['product', 'list'],
      run({ page, follow }) {
        follow('product', page.links('a.product'));
        follow('list', page.links('a.next'));
      },
    },
    product: {
      to: ['price', 'reviews'],
      record: z.object({ name: z.string() }),
      run({ page, follow, emit }) {
        emit({ name: page.get('h1') });
        follow('price', page.links('a.buy'));
        follow('reviews', page.links('a.reviews'));
      },
    },
    price: { record: z.object({ price: z.number() }), run: ({ page, emit }) => emit({ price: page.number('.price') }) },
    reviews: {
      record: z.object({ stars: z.int().min(1).max(5) }),
      run: ({ page, emit }) => page.all('.review').forEach((each) => void emit({ stars: each.number('.stars') })),
    },
  },
  joins: {
    offer: {
      per: 'product',
      of: ['product', 'price', 'reviews'],
      record: z.object({ name: z.string(), price: z.number(), stars: z.array(z.number()), missing: z.int() }),
      run({ inputs, missing, emit }) {
        const product = inputs.find((each) => each.step === 'product')?.records[0];
        const price = inputs.find((each) => each.step === 'price')?.records[0];
        const reviews = inputs.filter((each) => each.step === 'reviews').flatMap(({ records }) => records);
        const stars = reviews.map((each) => each.stars);
        emit({ name: product?.name, price: price?.price, stars, missing: missing.count });
      },
    },
    report: {
      of: ['offer'],
      record: z.object({ offers: z.int(), sum: z.number() }),
      async run({ counts, records, emit }) {
        let sum = 0;
        for await (const { price } of records('offer')) sum += price;
        emit({ offers: counts.offer, sum });
      },
    },
  },
});
