/**
 * News: the articles of a front page and its sections, each with its title, who wrote it and when, and its text as markdown, without
 * what stands around it: navigation, buttons, related articles. A page without an article has no item.
 *
 *     trawl crawl https://news.example/front/ --crawler ./news.ts --run news
 *     trawl records news -o articles.csv
 */
import { defineCrawler, z } from 'trawl';

const article = z.object({
  url: z.url(),
  title: z.string(),
  byline: z.string().optional(),
  published: z.string().optional(),
  markdown: z.string(),
});

export default defineCrawler({
  name: 'news',
  seeds: () => ['https://news.example/front/'],
  // An address with a year in it is an article, also as a seed.
  patterns: { article: '/20*' },
  steps: {
    front: {
      to: ['section', 'article'],
      run({ page, follow }) {
        follow('article', page.links('article h2'));
        follow('section', page.links('nav.sections'));
      },
    },
    section: { to: ['article'], run: ({ page, follow }) => follow('article', page.links('article h2')) },
    article: {
      record: article,
      run({ page, emit }) {
        if (page.article !== undefined) emit({ ...page.article, url: page.url });
      },
    },
  },
});
