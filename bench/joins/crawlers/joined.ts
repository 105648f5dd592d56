import { defineCrawler } from 'trawl';
import { part, product } from './steps.ts';

/** With a join of each owner's four pages. */
export default defineCrawler({
  name: 'joined',
  steps: { product: { to: ['part'], run: product }, part: { run: part } },
  joins: {
    offer: {
      per: 'product',
      of: ['product', 'part'],
      run: ({ inputs, missing, emit }) => emit({ pages: inputs.length, missing: missing.count }),
    },
  },
});
