/** Crawls products whose prices are at another host and get much kept data. */
import { defineCrawler, z } from 'trawl';

const NOTE = 'x'.repeat(8_000);

export default defineCrawler({
  name: 'wide',
  steps: {
    list: {
      scope: 'domain',
      to: ['product', 'list'],
      run({ page, follow }) {
        follow('product', page.links('a.product'));
        follow('list', page.links('a.next'));
      },
    },
    product: {
      scope: 'domain',
      to: ['price'],
      run: ({ page, follow }) => follow('price', page.links('a.buy'), { kept: { name: page.get('h1'), note: NOTE } }),
    },
    price: {
      scope: 'domain',
      keeps: z.object({ name: z.string(), note: z.string() }),
      run: ({ page, kept, emit }) => emit({ name: kept.name, price: page.number('.price') }),
    },
  },
  joins: {
    offer: {
      per: 'product',
      of: ['price'],
      record: z.object({ name: z.string(), price: z.number() }),
      run: ({ inputs, emit }) => emit(Object.assign({}, ...inputs.flatMap(({ records }) => records))),
    },
  },
});
