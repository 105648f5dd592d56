/**
 * News: the articles of a front page and its sections. What an article is comes from its JSON-LD, which search engines read as well,
 * and its text is kept as markdown.
 *
 *     trawl crawl https://news.example/front/ --crawler ./news.ts --run news
 *     trawl records news -o articles.csv
 */
import { defineCrawler, z } from 'trawl';

const article = z.object({
  headline: z.string(),
  published: z.iso.datetime({ offset: true }),
  authors: z.array(z.string()),
  text: z.string().min(1),
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
        const [about] = page.jsonLd('NewsArticle');
        const authors = [about?.author ?? []].flat() as { name: string }[];
        emit({
          headline: page.get('h1'),
          published: about?.datePublished as string | undefined,
          authors: authors.map(({ name }) => name),
          text: page.markdown('main'),
        });
      },
    },
  },
});
