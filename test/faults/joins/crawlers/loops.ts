/** Crawls the practice shop with links from products to themselves, to another product and to the list, and from prices back to both. */
import { defineCrawler, z } from 'trawl';

export default defineCrawler({
  name: 'loops',
  steps: {
    list: {
      to: ['product', 'list'],
      run({ page, follow }) {
        follow('product', page.links('a.product'));
        follow('list', page.links('a.next'));
      },
    },
    product: {
      to: ['price', 'product', 'list'],
      run({ page, follow, emit }) {
        emit({ name: page.get('h1') });
        follow('price', page.links('a.buy'));
        follow('product', [page.url, '/product/1']);
        follow('list', '/all/');
      },
    },
    price: {
      to: ['price', 'product'],
      run({ page, follow, emit }) {
        emit({ price: page.number('.price') });
        follow('price', page.url);
        follow('product', page.url.replace('/price', ''));
      },
    },
  },
  joins: {
    offer: {
      per: 'product',
      of: ['product', 'price'],
      record: z.object({ name: z.string(), price: z.number() }),
      run: ({ inputs, emit }) => emit(Object.assign({}, ...inputs.flatMap(({ records }) => records))),
    },
  },
});
