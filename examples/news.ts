/**
 * News: the articles of a front page and its sections, each with its title, author, date, and text as markdown, without navigation,
 * buttons and related articles. A page without an article emits nothing.
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
  // A path that begins with a year is an article, also as a seed.
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
