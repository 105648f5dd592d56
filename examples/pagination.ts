/**
 * A paged list that already has all the data: several items on each page, and a link to the next page.
 *
 *     trawl crawl https://quotes.example/quotes/ --crawler ./pagination.ts -o quotes.csv
 */
import { defineCrawler, z } from 'trawl';

export default defineCrawler({
  name: 'pagination',
  seeds: () => ['https://quotes.example/quotes/'],
  steps: {
    list: {
      to: ['list'],
      record: z.object({ text: z.string(), author: z.string(), tags: z.array(z.string()) }),
      run({ page, follow, emit }) {
        for (const quote of page.all('.quote')) {
          const tags = quote.all('a.tag').map(({ text }) => text);
          emit({ text: quote.get('.text'), author: quote.get('.author'), tags });
        }
        follow('list', page.links('.next a'));
      },
    },
  },
});
