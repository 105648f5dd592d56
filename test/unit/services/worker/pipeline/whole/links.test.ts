import { expect, test } from 'vitest';
import type { PipelineOptions } from '../../../../../../services/worker/pipeline/pipeline.ts';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import { FULL_NAP_MS } from '../../../../../../shared/loops/repeated-offer.ts';
import type { LinkTally, Settlement } from '../../../../../../shared/ports/frontier/frontier.ts';
import { hasMaxPages } from '../../../../../../shared/ports/runs.ts';
import { EVERYTHING } from '../../../../../support/stores/embedded.ts';
import { withMethods } from '../../../../../support/with-methods.ts';
import { deliver, expectPutBack, setup } from '../../setup.ts';

test('links are followed once each, and `onOffered` is called for a page that offers some', async () => {
  const world = await setup({ run: { follow: true, maxDepth: 1 } });
  let told = 0;
  const pipeline = world.pipeline({ onOffered: () => told++ });
  await pipeline.handle(await deliver(world, '/page/1'));
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 4, done: 1, waiting: 3, duplicate: 0 });
  for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  expect(await world.runs.progress('r'), 'no deeper than `maxDepth`').toMatchObject({ discovered: 4, done: 4 });
  expect(told).toBe(1);
});

test.each([
  ['', 2],
  ['<meta name=robots content=nofollow>', 1],
])('a meta refresh is followed like a link, unless robots meta says nofollow: %s', async (meta, done) => {
  const world = await setup({ run: { follow: true, maxDepth: 1 } });
  const html = `<meta http-equiv="refresh" content="0; url=/page/9">${meta}`;
  world.site.on('/', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(html));
  await world.pipeline().handle(await deliver(world, '/'));
  for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
  expect(await world.runs.progress('r')).toMatchObject({ discovered: done, done });
  expect(world.sink.records[0]).toMatchObject({ data: { links: [] } });
});

test('the next page of a list is followed if only a link element in the head names it', async () => {
  const world = await setup({ run: { follow: true, maxDepth: 1, hasDefaultDepth: true } });
  world.site.on('/list', (request, response) => {
    const n = Number(request.url?.split('?')[1]);
    const next = n < 4 ? `<link rel="next" href="/list?${n + 1}">` : '';
    response.writeHead(200, { 'content-type': 'text/html' }).end(next);
  });
  const pipeline = world.pipeline();
  await pipeline.handle(await deliver(world, '/list?1'));
  for (let round = 0; round < 5; round++)
    for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 4, done: 4 });
  expect(world.sink.records[0]).toMatchObject({ data: { links: [] } });
});

test('a run that does not follow links offers none and counts none as left out', async () => {
  const world = await setup({ run: { follow: false } });
  await world.pipeline().handle(await deliver(world, '/page/1'));
  const nothing = { depth: 0, scope: 0, maxPages: 0, limit: 0, condition: 0 };
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 1, done: 1, leftOut: nothing });
});

test('a link left out is counted once however many pages have it, and never if it is followed elsewhere', async () => {
  const world = await setup({ run: { follow: true, maxDepth: 1 } });
  const everywhere = ['/', '/a', '/b', 'https://elsewhere.example/'];
  for (const [path, own] of [
    ['/', '/a'],
    ['/a', '/deep/1'],
    ['/b', '/deep/2'],
  ] as const) {
    world.site.on(path, (_, response) => {
      const links = [...everywhere, own, '/deep/both'].filter((link) => path !== '/' || !link.startsWith('/deep'));
      response.writeHead(200, { 'content-type': 'text/html' }).end(links.map((link) => `<a href="${link}">`).join(''));
    });
  }
  const pipeline = world.pipeline();
  await pipeline.handle(await deliver(world, '/'));
  for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  const progress = await world.runs.progress('r');
  expect(progress).toMatchObject({ discovered: 3, done: 3, leftOut: { depth: 3, scope: 1, maxPages: 0 } });
});

test('the pages of a list share one depth if the run has the default depth', async () => {
  for (const [hasDefaultDepth, done] of [
    [true, 6],
    [false, 3],
  ] as const) {
    const world = await setup({ run: { follow: true, maxDepth: 1, hasDefaultDepth } });
    world.site.on('/shop', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/list?1">list</a><a href="/page/9">9</a>');
    });
    world.site.on('/list', (request, response) => {
      const n = Number(request.url?.split('?')[1]);
      const next = n < 4 ? `<a rel="next" href="/list?${n + 1}">more</a>` : '';
      response.writeHead(200, { 'content-type': 'text/html' }).end(next);
    });
    const pipeline = world.pipeline();
    await pipeline.handle(await deliver(world, '/shop'));
    for (let round = 0; round < 5; round++)
      for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
    expect(await world.runs.progress('r'), String(hasDefaultDepth)).toMatchObject({ done });
  }
});

test('a run with a limit follows links up to it and warns once', async () => {
  const world = await setup({ run: { follow: true, limit: 3 } });
  const pipeline = world.pipeline();
  await pipeline.handle(await deliver(world, '/page/1'));
  for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 3, done: 3 });
  const said = 'warn: the run has taken as many URLs as it may (--limit): further links are left out r 3';
  expect(world.log.lines.filter((line) => line.startsWith('warn'))).toEqual([said]);
});

test('links are compared by the URL rules of their run, and fetched as they are written', async () => {
  const paths = ['/a/', '/a', '/a?y=1&x=2', '/a?x=2&y=1', '/page/1/'];
  const crawler = defineCrawler({
    name: 'links',
    step: (page) => ({ links: paths.map((path) => new URL(path, page.url).href) }),
  });
  const world = await setup({ crawler, run: { follow: true, urlKey: ['no-trailing-slash', 'sort-query'] } });
  expect(await world.pipeline().handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 3, duplicate: 3 });
  const { tasks } = await world.frontier.release(EVERYTHING);
  expect(tasks.map(({ task }) => task.url)).toEqual(['/a/', '/a?y=1&x=2'].map((path) => world.site.url(path)));
});

test.each([
  ['its robots meta', {}, '<meta name="robots" content="nofollow">', 1],
  ['X-Robots-Tag', { 'x-robots-tag': 'noindex, nofollow' }, '', 1],
  ['rel on a link', {}, '', 2],
])('links with nofollow by %s are not followed, but are in the record', async (_, headers, head, found) => {
  const world = await setup({ run: { follow: true } });
  world.site.on('/asks', (_request, response) => {
    const html = `<head>${head}</head><a href="/page/1">1</a><a rel="nofollow" href="/page/2">2</a>`;
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(html);
  });
  expect(await world.pipeline().handle(await deliver(world, '/asks'))).toBe('ack');
  expect(await world.runs.progress('r')).toMatchObject({ discovered: found, done: 1 });
  expect(world.sink.records).toMatchObject([
    { data: { links: [world.site.url('/page/1'), world.site.url('/page/2')] } },
  ]);
});

test.each([
  ['<a href="/page/1">1</a><a href="/page/2">2</a>', 'noindex, nofollow', true],
  ['<a href="/page/1" rel="nofollow">1</a>', 'noindex', true],
  ['<a href="/page/1">1</a><a href="/page/2" rel="nofollow">2</a>', 'noindex', false],
  ['', 'nofollow', false],
])(
  'whether a seed with links %s and X-Robots-Tag %s is warned about for nofollow is %s',
  async (links, tag, isNamed) => {
    const world = await setup({ run: { follow: true } });
    const headers = { 'content-type': 'text/html', 'x-robots-tag': tag };
    for (const path of ['/', '/other'])
      world.site.on(path, (_, response) => response.writeHead(200, headers).end(links));
    const pipeline = world.pipeline();
    for (const path of ['/', '/other']) await pipeline.handle(await deliver(world, path));
    const said = `warn: a seed asks that its links not be followed (nofollow), and none is r ${world.site.url('/')}`;
    expect(world.log.lines.filter((line) => line.startsWith('warn'))).toEqual(isNamed ? [said] : []);
  },
);

test('a run that has reached its limit of pages follows no more links and warns once', async () => {
  const world = await setup({ run: { follow: true, maxPages: 3 } });
  const pipeline = world.pipeline();
  await pipeline.handle(await deliver(world, '/page/1'));
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 3, waiting: 2, duplicate: 0 });
  for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  const progress = await world.runs.progress('r');
  expect(progress).toMatchObject({ discovered: 3, done: 3 });
  expect(progress !== undefined && hasMaxPages(progress)).toBe(true);
  const said = 'warn: the run reached its limit of pages (--max-pages): further links are left out r 3';
  expect(world.log.lines.filter((line) => line.startsWith('warn'))).toEqual([said]);
});

test('links to hosts beyond the limit of a domain are left out and counted, with one warning', async () => {
  const world = await setup({ run: { follow: true, scope: 'domain', maxHostsPerDomain: 3 } });
  const { port } = new URL(world.site.origin);
  for (const path of ['/page/1', '/page/2']) {
    const links = Array.from({ length: 5 }, (_, n) => `<a href="http://127.0.0.1:${Number(port) + 1 + n}${path}">`);
    world.site.on(path, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(links.join(''));
    });
  }
  const pipeline = world.pipeline();
  for (const path of ['/page/1', '/page/2']) await pipeline.handle(await deliver(world, path));
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 8, done: 2, leftOut: { scope: 4 } });
  const said = 'a domain reached its limit of hosts (--max-hosts-per-domain): links to further ones are left out';
  expect(world.log.lines.filter((line) => line.startsWith('warn'))).toEqual([`warn: ${said} r 3 ${world.site.host}`]);
});

test('a page whose links a full frontier refuses is put back without counting an attempt, and released later', async () => {
  const world = await setup({ run: { follow: true } });
  const frontier = withMethods(world.frontier, { offer: async () => ({ refused: 'full' }) });
  expect(await world.pipeline({ frontier }).handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(world.sink.records).toEqual([]);
  world.clock.step(FULL_NAP_MS - 1);
  expect((await world.frontier.release(EVERYTHING)).tasks).toEqual([]);
  world.clock.step(1);
  await expectPutBack(world);
});

test('a page put back for a full frontier settles with the size of its refused links', async () => {
  const world = await setup({ run: { follow: true } });
  const told: Settlement[] = [];
  const frontier = withMethods<PipelineOptions['frontier']>(world.frontier, {
    offer: async () => ({ refused: 'full' }),
    settle: async (run, name, settlement) => {
      told.push(settlement);
      return await world.frontier.settle(run, name, settlement);
    },
  });
  const pipeline = world.pipeline({ frontier });
  for (const path of ['/page/1', '/page/2']) await pipeline.handle(await deliver(world, path));
  expect(told).toMatchObject(
    Array.from({ length: 2 }, () => ({ outcome: { kind: 'defer' }, refused: { leavesRoom: false } })),
  );
  const [bytes = 0] = told.map(({ refused }) => refused?.bytes);
  // Three links of a page.
  expect([bytes > 600, bytes < 3_000]).toEqual([true, true]);
});

test('each offer carries the tally of links this visit has offered before, and the settle the whole tally', async () => {
  const world = await setup({ run: { follow: true } });
  const links = Array.from({ length: 1_100 }, (_, n) => `<a href="/item/${n}">${n}</a>`).join('');
  for (const path of ['/many', '/few', '/none'])
    world.site.on(path, (_, response) => {
      const html = { '/many': links, '/few': '<a href="/item/1">1</a>' }[path] ?? '<p>nothing</p>';
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    });
  const told: (LinkTally | undefined)[] = [];
  const frontier = withMethods(world.frontier, {
    offer: async (...args) => {
      told.push(args[2]?.parent?.tally);
      return await world.frontier.offer(...args);
    },
    settle: async (...args) => {
      told.push(args[2].tally);
      return await world.frontier.settle(...args);
    },
  });
  const pipeline = world.pipeline({ frontier });
  await world.offer('/many', '/few', '/none');
  for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  const [first, few] = [told[0]?.stamp ?? '', told[4]?.stamp ?? ''];
  const tally = (stamp: string, ...counts: number[]) => counts.map((count) => ({ stamp, links: count }));
  expect(told).toEqual([...tally(first, 0, 500, 1_000, 1_100), ...tally(few, 0, 1), undefined]);
  expect([first, few], 'each visit has a new stamp of eight characters').toEqual([
    expect.stringMatching(/^[\w-]{8}$/),
    expect.not.stringMatching(first),
  ]);
});

test('links that a cancelled run refuses don’t count in the tally of the settle', async () => {
  const world = await setup({ run: { follow: true } });
  world.site.on('/list', async (_, response) => {
    await world.runs.cancel('r');
    response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/page/1">1</a>');
  });
  await world.pipeline().handle(await deliver(world, '/list'));
  expect(await world.runs.progress('r')).toMatchObject({ done: 1, cancelled: 0, inFlight: 0 });
});

test('a page whose links the store has lost is deferred, and done after another visit', async () => {
  const world = await setup({ run: { follow: true, maxDepth: 1 } });
  let isLost = true;
  const frontier = withMethods(world.frontier, {
    settle: async (run, name, settlement) => {
      const stamp = isLost ? 'lost' : settlement.tally?.stamp;
      isLost = false;
      if (stamp !== 'lost' || settlement.tally === undefined) return await world.frontier.settle(run, name, settlement);
      return await world.frontier.settle(run, name, { ...settlement, tally: { ...settlement.tally, stamp } });
    },
  });
  const pipeline = world.pipeline({ frontier });
  expect(await pipeline.handle(await deliver(world, '/page/1'))).toBe('ack');
  expect(world.log.lines).toContainEqual(expect.stringMatching(/^info: defer .*the store has lost links of the page/));
  expect(await world.runs.progress('r')).toMatchObject({ done: 0, waiting: 4, inFlight: 0 });
  for (const delivery of await world.deliveries()) await pipeline.handle(delivery);
  expect(await world.runs.progress('r')).toMatchObject({ done: 4, waiting: 0, inFlight: 0 });
  expect(world.sink.records.map(({ url }) => url)).toHaveLength(5);
});
