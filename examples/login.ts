/**
 * A customer's orders, behind a login form with a hidden token. User and password come from the environment:
 *
 *     SHOP_USER=me SHOP_PASSWORD=… trawl crawl --crawler ./login.ts --run orders -o orders.csv
 */
import { defineCrawler, z } from 'trawl';

export default defineCrawler({
  name: 'login',
  args: z.object({ site: z.url().default('https://shop.example') }),
  seeds: ({ args }) => [`${args.site}/account/orders`],
  secrets: ['SHOP_USER', 'SHOP_PASSWORD'],
  session: {
    async login({ get, submit, secrets, args }) {
      const form = await get(`${args.site}/account/login`);
      const page = await submit(form, { user: secrets.SHOP_USER, password: secrets.SHOP_PASSWORD });
      if (page.get('.greeting') === undefined) throw new Error(`the shop says: ${page.get('.error') ?? page.status}`);
    },
    isExpired: ({ headers }) => headers.location?.startsWith('/account/login') === true,
    ttl: '12h',
  },
  middleware: [
    {
      name: 'no-cancelled-orders',
      transform: (order) => (order.state === 'cancelled' ? null : order),
    },
  ],
  steps: {
    list: {
      to: ['order', 'list'],
      run({ page, follow }) {
        follow('order', page.links('a.order'));
        follow('list', page.links('a.next'));
      },
    },
    order: {
      record: z.object({ number: z.string(), total: z.number(), state: z.enum(['sent', 'cancelled']) }),
      run: ({ page, emit }) =>
        emit({ number: page.get('h1'), total: page.number('.total'), state: page.get('.state') as 'sent' }),
    },
  },
});
