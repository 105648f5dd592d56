import { defineCrawler } from 'trawl';
import { part, product } from './steps.ts';

/** Crawls the same pages as `joined.ts`, without a join. */
export default defineCrawler({
  name: 'unjoined',
  steps: { product: { to: ['part'], run: product }, part: { run: part } },
});
