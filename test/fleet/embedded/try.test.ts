import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const OFFERS = join(import.meta.dirname, '../../../examples/offers.ts');
const LOCAL = ['--private-hosts', '127.0.0.0/8', '--rate', 'none'];

const SHOP = `import { defineCrawler, z } from 'trawl';
import { price } from './price.ts';

export default defineCrawler({
  name: 'shop',
  args: z.object({ most: z.number().default(9) }),
  patterns: { product: '/product/*' },
  steps: {
    list: {
      to: ['product', 'list'],
      run({ page, args, follow }) {
        follow('product', page.links('a.product').slice(0, args.most), { kept: { list: 'all' } });
        follow('list', page.links('a.next'));
      },
    },
    product: {
      to: ['reviews'],
      keeps: z.object({ list: z.string().optional() }),
      record: z.object({ name: z.string(), price: z.number() }),
      run({ page, emit, follow }) {
        emit({ name: page.get('h1'), price: price(page) } as never);
        follow('reviews', '/reviews/1');
      },
    },
    reviews: { when: { exists: 'sku' }, run() {} },
  },
});
`;
const PRICE = `import type { Page } from 'trawl';
export const price = (page: Page) => page.number('.price');
`;
const LIST = `<title>List</title><link rel=canonical href=/all>
<a class=product href=/product/1>1</a><a class=product href=http://other.test/2>2</a><a class=next href=/?page=2>next</a>`;
const PRODUCT = '<title>Pot</title><h1>Pot</h1><p class=price>1.299,50 €</p>';

/** A shop site, and a folder with a crawler for it. */
async function setup(): Promise<{
  site: TestSite;
  workplace: Workplace;
  save: (file: string, text: string) => Promise<void>;
}> {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  const html = (body: string) => (_: unknown, response: import('node:http').ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  site.on('/shop', html(LIST));
  site.on('/product/1', html(PRODUCT));
  site.on('/moved', (_, response) => void response.writeHead(301, { location: '/product/1' }).end());
  const workplace = await openWorkplace();
  const save = (file: string, text: string): Promise<void> => writeFile(join(workplace.folder, file), text);
  await save('shop.ts', SHOP);
  await save('price.ts', PRICE);
  return { site, workplace, save };
}

test('shows the title and length of the article of a page', async () => {
  const { workplace, save } = await setup();
  const prose = 'A pot is made of clay, on a wheel, by people who have clay, a wheel and time.';
  await save('pot.html', `<nav>Home</nav><title>Pot | Shop</title><h1>Pot</h1><p>${prose}</p>`);
  const asked = ['try', 'https://shop.test/', '--html', 'pot.html'];
  expect((await workplace.run(asked)).stdout).toContain(`\n  article: ${prose.length + 4} characters, Pot\n`);
  const { page } = await workplace.json(asked);
  expect(page).toMatchObject({ article: { title: 'Pot', characters: prose.length + 4 } });
});

test('without a crawler, shows status, title, canonical URL and number of links', async () => {
  const { site, workplace } = await setup();
  const { code, stdout } = await workplace.run(['try', site.url('/shop'), ...LOCAL]);
  expect([code, stdout.split('\n')]).toEqual([
    0,
    [
      site.url('/shop'),
      `  HTTP 200, text/html, ${Buffer.byteLength(LIST)} bytes`,
      '  title: List',
      `  canonical: ${site.url('/all')}`,
      '  links: 3',
      '',
    ],
  ]);
  expect(site.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/shop']);
  const named = await workplace.json(['try', site.url('/shop'), '--crawler', 'page', ...LOCAL]);
  expect(named.result, 'the default crawler is one, once it is named').toMatchObject({ crawler: 'page' });
});

test('shows what a step would emit, follow and leave out, with the reasons', async () => {
  const { site, workplace } = await setup();
  const crawler = ['--crawler', './shop.ts', ...LOCAL];
  const kept = { list: 'all' };
  expect((await workplace.json(['try', site.url('/shop'), ...crawler])).result).toEqual({
    crawler: 'shop',
    step: 'list',
    items: [],
    follows: [
      { step: 'product', url: site.url('/product/1'), kept },
      { step: 'list', url: site.url('/?page=2') },
    ],
    leftOut: [{ step: 'product', url: 'http://other.test/2', reason: 'scope', kept }],
    isCut: false,
  });
  const some = await workplace.json(['try', '--arg', 'most=0', site.url('/shop'), ...crawler]);
  expect(some.result).toMatchObject({ follows: [{ step: 'list' }], leftOut: [] });
  const { stdout } = await workplace.run(['try', site.url('/product/1'), ...crawler]);
  expect(stdout.split('\n').slice(4)).toEqual([
    '',
    'Crawler shop, step product',
    'emits: 1 item',
    '  {"name":"Pot","price":1299.5}',
    'follows: no links',
    'leaves out: 1 link',
    `  reviews  ${site.url('/reviews/1')}  condition not met: sku exists`,
    '',
  ]);
});

test('shows redirects, and chooses the step by the URL that was given', async () => {
  const { site, workplace } = await setup();
  const args = ['try', site.url('/moved'), '--crawler', './shop.ts', ...LOCAL];
  const moved = await workplace.json([...args, '--step', 'product', '--kept', '{"list":"a"}']);
  expect(moved).toMatchObject({
    page: { url: site.url('/moved'), redirects: [site.url('/product/1')] },
    result: { step: 'product', items: [{ name: 'Pot' }], leftOut: [{ kept: { list: 'a' } }] },
  });
  expect((await workplace.json(args)).result.step).toBe('list');
});

test('--method, --data and --header send the request that a step would send', async () => {
  const { site, workplace, save } = await setup();
  const sent: unknown[] = [];
  site.on('/search', (request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const { 'content-type': type, 'x-shop': shop } = request.headers;
      sent.push([request.method, type, shop, body]);
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Found</title>');
    });
  });
  await save('query.json', '{"query":"lamps"}\n');
  const tried = async (...flags: string[]) => {
    const { code, stdout, stderr } = await workplace.run(['try', site.url('/search'), ...flags, ...LOCAL]);
    expect([code, stderr, stdout.includes('  title: Found\n')]).toEqual([0, '', true]);
    return sent.pop();
  };
  const form = 'application/x-www-form-urlencoded;charset=UTF-8';
  expect(await tried('--data', 'q=a+lamp&page=2')).toEqual(['POST', form, undefined, 'q=a+lamp&page=2']);
  expect(await tried('--data', '{"q": 1}')).toEqual(['POST', 'application/json', undefined, '{"q": 1}']);
  expect(await tried('--data', '@query.json')).toEqual(['POST', 'application/json', undefined, '{"query":"lamps"}\n']);
  const own = ['--header', 'Content-Type: text/csv', '--header', 'X-Shop: de: at'];
  expect(await tried('--method', 'put', '--data', '[]', ...own)).toEqual(['PUT', 'text/csv', 'de: at', '[]']);
  expect(await tried('--method', 'POST')).toEqual(['POST', undefined, undefined, '']);
  expect(await tried('--header', 'x-shop: de')).toEqual(['GET', undefined, 'de', '']);
});

test('--select prints the matches of a selector, and --html reads a file instead of fetching', async () => {
  const { workplace, save } = await setup();
  await save('saved.html', LIST);
  const args = ['try', 'https://shop.test/all/', '--html', 'saved.html'];
  const { stdout } = await workplace.run([...args, '--select', 'a']);
  expect(stdout).toMatch(/links: 3\n\na: 3 elements\n {2}1\n {2}2\n {2}next\n$/);
  const { selected, result } = await workplace.json([...args, '--select', 'a.next', '--crawler', './shop.ts']);
  expect(selected).toEqual(['next']);
  expect(result.follows[1]).toEqual({ step: 'list', url: 'https://shop.test/?page=2' });
});

test('names the other steps if the first one makes nothing of the page', async () => {
  const { workplace, save } = await setup();
  await save('saved.html', '<h1>Pot</h1>');
  const args = ['try', 'https://shop.test/elsewhere', '--html', 'saved.html', '--crawler', './shop.ts'];
  const { stdout } = await workplace.run(args);
  expect(stdout).toMatch(/follows: no links\nIs the page for another step\? Try --step with product, reviews\n$/);
});

test('shows a failing step with its place, message and lines, and exits with 1', async () => {
  const { site, workplace, save } = await setup();
  await save('price.ts', PRICE.replace('.price', '.prize'));
  const args = ['try', site.url('/product/1'), '--crawler', './shop.ts', ...LOCAL];
  const { code, stderr } = await workplace.run(args);
  expect(code).toBe(1);
  expect(stderr.split('\n')[0]).toMatch(
    /^failed, schema: shop\.ts:21, step product: an item: price: Invalid input: expected number, received undefined \(it is missing\), in `emit\(/,
  );
  expect(stderr).toContain('> 21 |         emit({ name: page.get');
  const json = await workplace.run([...args, '--json']);
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
    1,
    { page: { title: 'Pot' }, failure: { reason: 'schema' } },
  ]);
});

test('says why a crawl would skip or fail the page', async () => {
  const { site, workplace } = await setup();
  site.robots = 'User-agent: *\nDisallow: /product/';
  const tried = async (path: string, ...flags: string[]) => {
    const { code, stderr } = await workplace.run(['try', site.url(path), ...flags, '--rate', 'none']);
    return [code, stderr.trimEnd()];
  };
  const local = LOCAL.slice(0, 2);
  expect(await tried('/product/1', ...local)).toEqual([
    1,
    'skipped, robots: robots.txt forbids it (User-agent: *, Disallow: /product/)',
  ]);
  expect(await tried('/product/1', ...local, '--robots', 'ignore')).toEqual([0, '']);
  expect(await tried('/status/404', ...local)).toEqual([1, 'failed, http_4xx: HTTP 404']);
  expect(await tried('/status/500', ...local)).toEqual([1, 'retry, http_5xx: HTTP 500; a crawl would ask again later']);
  expect(await tried('/shop')).toEqual([1, expect.stringMatching(/^skipped, private_address: /)]);
});

// biome-ignore format: a table
test.each<[readonly string[], string]>([
  [['www.example.com'], 'expected a URL such as https://www.example.com/, got "www.example.com": it has no scheme'],
  [['https://me:pass@a.test:99999/'], 'expected a URL such as https://www.example.com/, got "https://a.test:99999/": it is not a valid URL'],
  [['https://a.test/', '--step', 'list'], '--step is for a crawler: name it with --crawler'],
  [['https://a.test/', '--watch'], 'nothing to watch: name a crawler with --crawler, or --html'],
  [['https://a.test/', '--crawler', './shop.ts', '--step', 'lst'], 'expected a step of crawler shop, got lst, which is no step: did you mean list?'],
  [['https://a.test/', '--crawler', './shop.ts', '--kept', '[]'], `expected --kept to be a JSON object such as '{"sku":"a1"}', got []`],
  [['https://a.test/product/1', '--crawler', './shop.ts', '--kept', '{"list":1}'], '--kept: step product expects list: Invalid input: expected string, received number'],
  [['https://a.test/', '--crawler', './shop.ts', '--arg', 'mots=1'], 'crawler shop has no argument mots: did you mean most?'],
  [['https://a.test/', '--method', 'FETCH'], 'the request for https://a.test/: expected method to be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, got FETCH'],
  [['https://a.test/', '--method', 'get', '--data', 'q=1'], `the request for https://a.test/: a GET has no body: say method: 'POST', or another that has one`],
  [['https://a.test/', '--header', 'host: b.test'], 'the request for https://a.test/: header "host": can\'t be set: it belongs to the connection, or changes what an answer means'],
  [['https://a.test/', '--header', 'x: 1', '--header', 'X: 2'], 'expected each --header once, got x twice'],
  [['https://a.test/', '--header', 'accept'], `expected --header to be like 'accept: application/json', got one without a name and a colon`],
  [['https://a.test/', '--data', '@none.json'], "--data @none.json can't be read: ENOENT: no such file or directory, open 'none.json'"],
  [['https://a.test/', '--data', 'q=1', '--html', 'shop.ts'], '--data describes a request, and with --html none is sent: leave out one of them'],
  [['https://a.test/', '--html', 'none.html', '--crawler', './shop.ts', '--watch'], 'there is no file none.html'],
])('try %j is refused', async (args, said) => {
  const { workplace } = await setup();
  const { code, stderr } = await workplace.run(['try', ...args]);
  expect([code, stderr]).toEqual([2, `trawl: ${said}\n`]);
});

test('--watch runs again at each save, on a page that is fetched once, until Ctrl-C', async () => {
  const { site, workplace, save } = await setup();
  const trawl = workplace.start(['try', site.url('/product/1'), '--crawler', './shop.ts', '--watch', ...LOCAL]);
  await trawl.says(/"price":1299\.5\}[\s\S]*Watching for saves; Ctrl-C to stop/);
  await save('price.ts', PRICE.replace("page.number('.price')", '7'));
  await trawl.says(/"price":7\}/);
  await trawl.says(/price\.ts was saved:/);
  await save('shop.ts', `${SHOP}\nsyntax error`);
  await trawl.says(/shop\.ts was saved:[\s\S]*It failed\. Watching for saves/);
  await save('shop.ts', SHOP.replace("name: 'shop'", "name: 'mended'"));
  await trawl.says(/Crawler mended, step product/);
  trawl.signal('SIGINT');
  expect((await trawl.ended).code).toBe(130);
  expect(site.count('/product/1')).toBe(1);
});

test('lists links that no crawl could fetch as left out, and files as downloads', async () => {
  const { site, workplace, save } = await setup();
  await save(
    'contacts.ts',
    `import { defineCrawler } from 'trawl';
export default defineCrawler({
  name: 'contacts',
  steps: { list: { to: ['list'], run({ follow, download }) { follow('list', ['mailto:a@shop.test', '/shop']); download('/a.pdf'); } } },
});
`,
  );
  const { stdout } = await workplace.run(['try', site.url('/shop'), '--crawler', './contacts.ts', ...LOCAL]);
  expect(stdout).toContain(`follows: 2 links\n  list  ${site.url('/shop')}\n  download  ${site.url('/a.pdf')}\n`);
  expect(stdout).toContain('leaves out: 1 link\n  list  mailto:a@shop.test  no http or https URL\n');
});

test('shows the method and body of requests that a step follows', async () => {
  const { workplace, save } = await setup();
  await save(
    'saved.html',
    '<form method=post action=/find><input name=q><input type=hidden name=token value=t></form>',
  );
  await save(
    'search.ts',
    `import { defineCrawler } from 'trawl';
export default defineCrawler({
  name: 'search',
  steps: {
    start: { to: ['results'], run: ({ page, follow }) => follow('results', page.form('form', { q: 'a lamp' })) },
    results: { run() {} },
  },
});
`,
  );
  const args = ['try', 'https://shop.test/', '--html', 'saved.html', '--crawler', './search.ts'];
  const { stdout } = await workplace.run(args);
  expect(stdout).toContain('follows: 1 link\n  results  POST https://shop.test/find  sends q=a+lamp&token=t\n');
  const { result } = await workplace.json(args);
  expect(result.follows).toMatchObject([{ step: 'results', request: { method: 'POST', body: 'q=a+lamp&token=t' } }]);
});

test('lists nofollow links as left out', async () => {
  const { workplace, save } = await setup();
  await save('saved.html', '<a href=/1 rel=nofollow>1</a><a href=/2>2</a>');
  const at = ['try', 'https://shop.test/', '--html', 'saved.html', '--crawler', 'page'];
  const { stdout } = await workplace.run(at);
  expect(stdout).toContain('follows: 1 link\n  https://shop.test/2\n');
  expect(stdout).toContain('leaves out: 1 link\n  https://shop.test/1  nofollow, by the page\n');
});

test('shows the joins that would wait for a page, and for how many of its links', async () => {
  const { workplace, save } = await setup();
  await save(
    'saved.html',
    '<h1>Pot</h1><a class=buy href=/buy/1></a><a class=reviews href=/r/1></a><i class=price>1</i>',
  );
  const at = ['try', 'https://shop.test/p/1', '--html', 'saved.html', '--crawler', OFFERS, '--step'];
  expect((await workplace.run([...at, 'product'])).stdout).toContain(
    'joins: 1 join\n  offer, per product: waits for this page and 2 of its links, and takes what it emits\n',
  );
  const { result } = await workplace.json([...at, 'price']);
  expect(result.joins).toEqual([{ name: 'offer', per: 'product', takes: true, links: 0 }]);
  expect((await workplace.run([...at, 'list'])).stdout).toContain('joins: no joins\n');
});
