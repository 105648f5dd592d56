import { defineCrawler } from '../shared/crawler/crawler.ts';

/** The crawler that ships: the links of every page, and its canonical URL if it names one. Its title is in the record anyway. */
export const crawler = defineCrawler({
  name: 'page',
  step: ({ links, canonical }) => ({ data: canonical === null ? { links } : { links, canonical } }),
});
