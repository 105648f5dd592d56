import { defineCrawler } from '../shared/crawler/crawler.ts';

/** The default crawler: every page's links, and its canonical URL if it names one. All records have the title anyway. */
export default defineCrawler({
  name: 'page',
  step: (page) => {
    const links = page.links();
    const { canonical } = page;
    return { data: canonical === undefined ? { links } : { links, canonical } };
  },
});
