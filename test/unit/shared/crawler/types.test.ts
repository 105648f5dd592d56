import { expect, test } from 'vitest';
import { defineCrawler, testCrawler, z } from '../../../../shared/crawler/trawl.ts';

// `tsc` checks the types: nothing here is cast.
const crawler = defineCrawler({
  name: 'reports',
  steps: {
    report: {
      to: ['price'],
      record: z.object({
        title: z.string(),
        links: z.array(z.url()),
        pdf: z.url().optional(),
        cover: z.url().optional(),
      }),
      run({ page, follow, emit }) {
        const [pdf, cover] = [page.attr('a.pdf', 'href'), page.attr('img', 'src')];
        const [links, title] = [page.links('p'), page.get('h1')];
        emit({ title, links, pdf: page.resolve(pdf), cover: page.resolve(cover) });
        follow('price', page.links('a.price'));
      },
    },
    price: { record: z.object({ price: z.number() }), run: ({ page, emit }) => emit({ price: page.number('b') }) },
  },
  joins: {
    offer: {
      per: 'report',
      of: ['report', 'price'],
      record: z.object({ title: z.string(), cents: z.int() }),
      run({ inputs, emit }) {
        const title = inputs.find((each) => each.step === 'report')?.records[0]?.title;
        const prices = inputs.filter((each) => each.step === 'price');
        const cents = prices.flatMap(({ records }) => records.map((each) => each.price * 100));
        emit({ title, cents: cents.reduce((sum, each) => sum + each, 0) });
      },
    },
  },
});

test('lists of a page, missing links and the inputs of a join have types that fit their records', async () => {
  const { items } = await testCrawler(crawler, {
    pages: [
      {
        url: 'https://shop.test/r/1',
        html: '<h1>One</h1><p><a href="a">a</a></p><a class="pdf" href="1.pdf"></a><a class="price" href="/p"></a>',
      },
      { url: 'https://shop.test/p', html: '<b>12.50</b>' },
    ],
  });
  expect(items.report).toEqual([{ title: 'One', links: ['https://shop.test/r/a'], pdf: 'https://shop.test/r/1.pdf' }]);
  expect(items.offer).toEqual([{ title: 'One', cents: 1250 }]);
});
