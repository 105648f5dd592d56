import { defineCrawler } from 'trawl';
import { part, product } from './steps.ts';

/** Crawls owners and joins the four pages of each. */
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
