import { defineCrawler } from 'trawl';
import { part, product } from './steps.ts';

/** The same pages, without a join. */
export default defineCrawler({
  name: 'unjoined',
  steps: { product: { to: ['part'], run: product }, part: { run: part } },
});
