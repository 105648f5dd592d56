import { expect, onTestFinished, test } from 'vitest';
import { isRespelt } from '../../../../../services/worker/pipeline/redirects.ts';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { TestSite } from '../../../../support/site.ts';
import { offerOf } from '../../../../support/stores/embedded.ts';
import { setup } from '../setup.ts';

/** A world with a second site, which counts as another host. */
async function twoSites(options: Parameters<typeof setup>[0] = {}) {
  const world = await setup(options);
  const other = new TestSite();
  await other.start();
  onTestFinished(() => other.stop());
  const leadTo = (path: string): string => `/redirect-to?url=${encodeURIComponent(other.url(path))}`;
  const handleNext = async () => {
    const [delivery] = await world.deliveries();
    if (delivery === undefined) throw new Error('nothing was released');
    return await world.pipeline().handle(delivery);
  };
  return { ...world, other, leadTo, handleNext };
}

test('a redirect to another host is followed through that host’s gate, and its URLs are in the record', async () => {
  const { offer, handleNext, runs, sink, other, site, leadTo } = await twoSites();
  await offer(leadTo('/redirect/1'));
  expect(await handleNext()).toBe('ack');
  expect(await runs.progress('r')).toMatchObject({ done: 1, inFlight: 0 });
  expect(sink.records).toMatchObject([
    {
      url: site.url(leadTo('/redirect/1')),
      finalUrl: other.url('/page/1'),
      redirects: [other.url('/redirect/1'), other.url('/page/1')],
      attempt: 1,
    },
  ]);
});

test.each([
  ['/status/404', 'http_4xx'],
  ['/loop', 'redirects'],
])('a redirect to %s fails, and its URL is in the record', async (path, reason) => {
  const { offer, handleNext, sink, site } = await twoSites();
  site.on('/loop', (_, response) => void response.writeHead(302, { location: '/loop' }).end());
  await offer(`/redirect-to?url=${path}`);
  await handleNext();
  const [record] = sink.records;
  expect(record).toMatchObject({ outcome: 'failed', reason });
  expect(new Set(record?.redirects)).toEqual(new Set([site.url(path)]));
});

test('a page whose next hop must wait is deferred under the host of that hop, and resumes there', async () => {
  const { offer, handleNext, deliveries, runs, gate, sink, other, site, leadTo, clock } = await twoSites();
  await gate.pause(other.host, 60_000, 'tired');
  await offer(leadTo('/page/7'));
  await handleNext();
  expect(await runs.progress('r')).toMatchObject({ waiting: 1, inFlight: 0, done: 0 });
  expect(await deliveries(), 'the first host is free, but the task waits for the other').toEqual([]);
  clock.step(60_000);
  await handleNext();
  expect(sink.records).toMatchObject([
    { url: site.url(leadTo('/page/7')), finalUrl: other.url('/page/7'), attempt: 1 },
  ]);
  expect(other.count('/page/7')).toBe(1);
  expect(site.count(leadTo('/page/7')), 'the first host is not asked again').toBe(1);
});

test('a 429 after a redirect pauses the host it leads to, not the first', async () => {
  const { offer, handleNext, gate, other, site, leadTo } = await twoSites();
  await offer(leadTo('/status/429'));
  await handleNext();
  expect(await gate.stillOpen(other.host)).toBe(false);
  expect(await gate.stillOpen(site.host)).toBe(true);
});

test('a followed link that redirects to another host is skipped as out of scope', async () => {
  const { handleNext, runs, sink, site, other, leadTo, frontier } = await twoSites({ run: { follow: true } });
  await frontier.offer('r', [{ ...offerOf(site.url(leadTo('/page/1'))), depth: 1 }]);
  await handleNext();
  expect(await runs.progress('r')).toMatchObject({ skipped: 1, reasons: { skipped: { scope: 1 } } });
  expect(sink.records).toMatchObject([{ error: `redirected to ${other.url('/page/1')} (outside scope host)` }]);
  expect(other.requests).toEqual([]);
});

test('a followed link that redirects to an excluded URL is skipped; a seed is not', async () => {
  const { handleNext, runs, sink, site, frontier } = await twoSites({ run: { follow: true, exclude: ['/page/*'] } });
  const offers = [1, 0].map((depth) => ({ ...offerOf(site.url(`/redirect-to?url=/page/${2 - depth}`)), depth }));
  for (const offer of offers) {
    await frontier.offer('r', [offer]);
    await handleNext();
  }
  expect(await runs.progress('r')).toMatchObject({ done: 1, skipped: 1, reasons: { skipped: { scope: 1 } } });
  expect(sink.records[0]).toMatchObject({ error: `redirected to ${site.url('/page/1')} (excluded by /page/*)` });
  expect([site.count('/page/1'), site.count('/page/2')]).toEqual([0, 1]);
});

test.each([
  ["leaves the run's scope is skipped", undefined, { skipped: 1, reasons: { skipped: { scope: 1 } } }],
  ["stays in its step's scope is fetched", 'domain', { done: 2, skipped: 0 }],
] as const)('a page that a step followed, and whose redirect %s', async (_, scope, ended) => {
  const crawler = defineCrawler({
    name: 'shop',
    steps: {
      list: { to: ['product'], run: ({ follow }) => follow('product', link) },
      product: { ...(scope === undefined ? {} : { scope }), run() {} },
    },
  });
  const { offer, handleNext, runs, leadTo } = await twoSites({ crawler });
  const link = leadTo('/page/1');
  await offer('/page/1');
  for (let i = 0; i < 2; i++) await handleNext();
  expect(await runs.progress('r')).toMatchObject({ discovered: 2, ...ended });
});

// biome-ignore format: a table
test.each([
  ['/redirect-to?url=/loop',                 '/loop', 'in a circle'],
  ['/redirect/11',                           '/page', 'more than 10 times'],
  ['/redirect-to?url=ftp://127.0.0.1/',      '/page', 'not http or https'],
])('%s fails for its redirects', async (path, loop, problem) => {
  const { offer, handleNext, runs, site, letters } = await twoSites();
  site.on(loop, (_, response) => void response.writeHead(302, { location: loop }).end());
  await offer(path);
  await handleNext();
  expect(await runs.progress('r')).toMatchObject({ failed: 1, reasons: { failed: { redirects: 1 } } });
  const [letter] = await letters();
  expect(letter?.error).toContain(problem);
});

test('a page that redirects to itself once is asked for again', async () => {
  const { offer, handleNext, runs, site } = await twoSites();
  let times = 0;
  site.on('/cookie', (_, response) => {
    if (++times > 1) response.writeHead(200, { 'content-type': 'text/html' }).end('<title>come in</title>');
    else response.writeHead(302, { location: '/cookie' }).end();
  });
  await offer('/cookie');
  await handleNext();
  expect(await runs.progress('r')).toMatchObject({ done: 1 });
});

test('a redirect to a private address is skipped', async () => {
  const { offer, handleNext, runs } = await twoSites();
  await offer('/redirect-to?url=http://10.0.0.1/');
  await handleNext();
  expect(await runs.progress('r')).toMatchObject({ skipped: 1, reasons: { skipped: { private_address: 1 } } });
});

test('redirects whose URLs are too long for a message fail their page', async () => {
  const { site, offer, handleNext, deliveries, pipeline, letters } = await twoSites();
  const long = `/long?${'x'.repeat(8_192)}`;
  site.on('/to-long', (_, response) => response.writeHead(302, { location: long }).end());
  await offer('/to-long');
  await handleNext();
  const eightKiB = 'x'.repeat(8_000);
  site.on('/hop', ({ url = '' }, response) => {
    const hop = Number(new URL(url, 'http://a.test').searchParams.get('n') ?? 0) + 1;
    response.writeHead(302, { location: `/hop?n=${hop}&${eightKiB}` }).end();
  });
  await offer('/hop');
  const [delivery] = await deliveries();
  if (delivery === undefined) throw new Error('nothing was released');
  await pipeline({ maxRedirects: 50 }).handle(delivery);
  expect((await letters()).map((letter) => [letter?.reason, letter?.error])).toEqual([
    ['redirects', 'The redirect leads to a URL of more than 8192 characters'],
    ['redirects', 'The URLs that the request was redirected to have more than 131072 characters'],
  ]);
});

test('a page that redirects to a known page is a duplicate; a new page it redirects to is known from then on', async () => {
  const { offer, deliveries, pipeline, runs, site, sink, frontier } = await twoSites();
  await offer('/redirect/1', '/redirect/2', '/page/2', '/redirect-to?url=/page/2');
  for (const delivery of await deliveries()) await pipeline().handle(delivery);
  expect(await runs.progress('r')).toMatchObject({ done: 2, skipped: 2, reasons: { skipped: { duplicate: 2 } } });
  expect(sink.records.filter(({ outcome }) => outcome === 'done').map(({ url }) => url)).toEqual([
    site.url('/redirect/1'),
    site.url('/page/2'),
  ]);
  expect(await frontier.offer('r', [offerOf(site.url('/page/1'))])).toEqual({ accepted: 0, known: 1 });
});

test('a redirect that only respells a known URL is not followed; one that leads there by a cookie is', async () => {
  const { offer, deliveries, pipeline, runs, site, sink } = await twoSites();
  site.on('/about', (_, response) => response.writeHead(301, { location: '/about/' }).end());
  site.on('/about/', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('about'));
  site.on('/page', ({ headers: { cookie } }, response) => {
    if (cookie === undefined) response.writeHead(302, { location: '/gate' }).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end('page');
  });
  site.on('/gate', (_, response) => response.writeHead(302, { location: '/page', 'set-cookie': 'in=1' }).end());
  await offer('/about', '/about/', '/page', '/gate');
  for (const delivery of await deliveries()) await pipeline().handle(delivery);
  expect(site.requests.map(({ path }) => path)).toEqual([
    ...['/about', '/about/', '/page', '/gate', '/page', '/gate', '/page'],
  ]);
  expect(await runs.progress('r')).toMatchObject({ done: 2, skipped: 2, reasons: { skipped: { duplicate: 2 } } });
  expect(sink.records).toMatchObject([
    {
      url: site.url('/about'),
      error: `redirected to ${site.url('/about/')}, which is known`,
      redirects: [site.url('/about/')],
    },
    { outcome: 'done' },
    { outcome: 'done', url: site.url('/page') },
    { outcome: 'skipped', url: site.url('/gate') },
  ]);
});

test.each([
  ['http://a.test/about', 'https://www.a.test/about/', true],
  ['https://www.a.test/?a=1', 'https://a.test/?a=1', true],
  ['http://a.test:8080/a', 'https://a.test/a', false],
  ['https://a.test/a?b=1', 'https://a.test/a', false],
  ['https://a.test/?p=1', 'https://a.test/one/', false],
  ['https://a.test/A', 'https://a.test/a', false],
])('whether %s is respelt as %s is %s', (from, to, expected) => {
  expect(isRespelt(from, to)).toBe(expected);
});

test('a page put back after it claimed its redirect’s URL is recorded on its next visit, not a duplicate of itself', async () => {
  const { offer, deliveries, pipeline, runs, sink } = await twoSites();
  await offer('/redirect/1');
  const [delivery] = await deliveries();
  if (delivery === undefined) throw new Error('nothing was released');
  sink.failure = new Error('the disk is full');
  await pipeline().handle(delivery);
  sink.failure = undefined;
  const [again] = await deliveries();
  if (again === undefined) throw new Error('nothing was released');
  await pipeline().handle(again);
  expect(await runs.progress('r')).toMatchObject({ done: 1, skipped: 0 });
});
