import { defineCrawler } from '../shared/crawler/crawler.ts';

/** The crawler that ships: the links of every page. Its title is in the record anyway. */
export const crawler = defineCrawler({
  name: 'page',
  step: (page) => ({ data: { links: page.links } }),
});
