import { defineCrawler } from '../shared/crawler/crawler.ts';

/** The default crawler: records a page's links, and its canonical URL if it names one. Every record has the title anyway. */
export default defineCrawler({
  name: 'page',
  step: (page) => {
    const links = page.links();
    const { canonical } = page;
    return { data: canonical === undefined ? { links } : { links, canonical } };
  },
});
