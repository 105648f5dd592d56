/** Crawls the practice shop with joins in two layers and a report. A worker can be held before and after the links of a page, and in a join. */
import { defineCrawler, z } from 'trawl';
import { hold } from '../hold.ts';

const stars = (records: readonly unknown[]) => records.map((review) => (review as { stars: number }).stars);

export default defineCrawler({
  name: 'parts',
  middleware: [{ name: 'hold', beforeStore: ({ url }, { step }) => hold(`${step}-offered`, url) }],
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
      async run({ page, follow, emit }) {
        await hold('product-read', page.url);
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
      async run({ inputs, missing, emit }) {
        await hold('offer-made');
        const [product, price, ...reviews] = inputs.map(({ records }) => records);
        emit({ ...Object(product?.[0]), ...Object(price?.[0]), stars: stars(reviews.flat()), missing: missing.count });
      },
    },
    label: {
      per: 'product',
      of: ['offer'],
      async run({ inputs, emit }) {
        await hold('label-made');
        emit({ text: inputs.map(({ records }) => JSON.stringify(records)).join() });
      },
    },
    report: {
      of: ['offer'],
      record: z.object({ offers: z.int(), sum: z.number() }),
      async run({ counts, records, emit }) {
        await hold('report-made');
        let sum = 0;
        for await (const { price } of records('offer')) sum += price;
        emit({ offers: counts.offer, sum });
      },
    },
  },
});
