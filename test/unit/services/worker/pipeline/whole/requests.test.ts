import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { placeOf } from '../../../../../../services/worker/delivered.ts';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import type { Links } from '../../../../../../shared/crawler/definition.ts';
import { FULL_NAP_MS } from '../../../../../../shared/loops/repeated-offer.ts';
import type { Delivery } from '../../../../../../shared/ports/transport.ts';
import { TestSite } from '../../../../../support/site.ts';
import { withMethods } from '../../../../../support/with-methods.ts';
import { deliver, setup } from '../../setup.ts';

const POST = {
  url: '/form',
  method: 'POST',
  body: { q: 1 },
  headers: { authorization: 'secret', 'x-own': 'a' },
} as const;

/** A worker whose first page has followed these links to the step `answer`, and the deliveries of their tasks. */
async function following(links: Links) {
  const crawler = defineCrawler({
    name: 'asking',
    steps: {
      start: { to: ['answer'], run: ({ follow }) => follow('answer', links) },
      answer: { run: ({ page, emit }) => emit({ text: page.text }) },
    },
  });
  const world = await setup({ crawler, run: { dedup: 'run', scope: 'domain' } });
  await world.pipeline().handle(await deliver(world, '/page/1'));
  return { world, deliveries: await world.deliveries() };
}

/** Answers with the method, the body and some headers of the request. */
function tell(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => void pieces.push(piece));
  request.on('end', () => {
    const { authorization = '', 'x-own': own = '', 'content-type': type = '' } = request.headers;
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.end([request.method, Buffer.concat(pieces).toString(), type, authorization, own].join('|'));
  });
}

const first = ([delivery]: readonly Delivery[]): Delivery => delivery ?? expect.fail('nothing was released');

test('a step follows filled-in forms: the same search from two pages is one task, and a missing form is none', async () => {
  const search = (method: string, page: number): string =>
    `<form method=${method} action=/form><input type=hidden name=shop value=de><input name=q>
     <button name=go value=1></button></form><form class=pager action=/page/${page}></form>`;
  const crawler = defineCrawler({
    name: 'searching',
    steps: {
      start: {
        to: ['answer'],
        run({ page, follow }) {
          follow('answer', [page.form('form', { q: 'a lamp' }), page.form('form.missing')]);
        },
      },
      answer: { run: ({ page, emit }) => emit({ text: page.text, url: page.url }) },
    },
  });
  const world = await setup({ crawler, run: { dedup: 'run' } });
  const { site, sink } = world;
  for (const [at, method] of ['post', 'post', 'get'].entries())
    site.on(`/list/${at}`, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(search(method, at));
    });
  let [origin, referer] = ['', ''];
  site.on('/form', (request, response) => {
    if (request.method === 'POST') ({ origin = '', referer = '' } = request.headers);
    tell(request, response);
  });
  for (const at of [0, 1, 2]) await world.offer(`/list/${at}`);
  for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
  const deliveries = await world.deliveries();
  expect(deliveries).toHaveLength(2);
  for (const delivery of deliveries) await world.pipeline().handle(delivery);
  const data = sink.records.slice(3).map((record) => ('data' in record ? record.data : record));
  expect(data).toEqual([
    { text: 'POST|shop=de&q=a+lamp&go=1|application/x-www-form-urlencoded||', url: site.url('/form') },
    { text: 'GET||||', url: site.url('/form?shop=de&q=a+lamp&go=1') },
  ]);
  expect([origin, referer]).toEqual([site.origin, `${site.origin}/`]);
});

test('a step can follow requests as well as links, and each different request is a task of its own', async () => {
  const { world, deliveries } = await following([
    '/form',
    POST,
    { ...POST, body: { q: 2 } },
    { ...POST },
    { url: '/form', method: 'GET' },
    undefined,
  ]);
  expect(deliveries).toHaveLength(3);
  world.site.on('/form', tell);
  for (const delivery of deliveries) await world.pipeline().handle(delivery);
  const data = world.sink.records.slice(1).map((record) => ('data' in record ? record.data : record));
  expect(data).toEqual([
    { text: 'GET||||' },
    { text: 'POST|{"q":1}|application/json|secret|a' },
    { text: 'POST|{"q":2}|application/json|secret|a' },
  ]);
});

// biome-ignore format: a table
test.each([
  [302, 'GET|||secret|a'],
  [303, 'GET|||secret|a'],
  [307, 'POST|{"q":1}|application/json|secret|a'],
  [308, 'POST|{"q":1}|application/json|secret|a'],
])('a POST that is redirected by a %i on its own site arrives as %s', async (status, arrived) => {
  const { world, deliveries } = await following(POST);
  world.site.on('/form', (_, response) => void response.writeHead(status, { location: '/there' }).end());
  world.site.on('/there', tell);
  await world.pipeline().handle(first(deliveries));
  expect(world.sink.records[1]).toMatchObject({ outcome: 'done', data: { text: arrived } });
});

test('a POST redirected to another origin is sent without its own headers and credentials', async () => {
  const other = new TestSite();
  await other.start();
  const { world, deliveries } = await following(POST);
  world.site.on('/form', (_, response) => void response.writeHead(307, { location: other.url('/there') }).end());
  other.on('/there', tell);
  await world.pipeline().handle(first(deliveries));
  expect(
    other.requests.map(({ method, headers }) => [
      method,
      headers['content-type'],
      headers.authorization,
      headers['x-own'],
    ]),
  ).toEqual([['POST', 'application/json', undefined, undefined]]);
  await other.stop();
});

test('a POST answered by 500 is tried again, and its answer is not cached', async () => {
  const { world, deliveries } = await following(POST);
  let asked = 0;
  world.site.on('/form', (request, response) => {
    asked++;
    if (asked === 1) response.writeHead(500).end();
    else tell(request, response);
  });
  await world.pipeline().handle(first(deliveries));
  world.clock.step(60_000);
  await world.pipeline().handle(first(await world.deliveries()));
  expect(world.sink.records[1]).toMatchObject({ outcome: 'done', attempt: 2 });
  const hit = await world.cache.get(world.site.url('/form'));
  expect(hit).toBeUndefined();
});

test('a POST whose connection is cut fails at once as of unknown fate; an idempotent one is tried again', async () => {
  for (const idempotent of [false, true]) {
    const { world, deliveries } = await following({ ...POST, idempotent });
    world.site.on('/form', (request) => void request.socket.destroy());
    await world.pipeline().handle(first(deliveries));
    const failed = [
      { reason: 'unknown_fate', error: expect.stringMatching(/, to a POST: it may have been carried out, so/) },
    ];
    expect(await world.letters()).toMatchObject(idempotent ? [] : failed);
    expect(await world.runs.progress('r')).toMatchObject({ failed: idempotent ? 0 : 1, waiting: idempotent ? 1 : 0 });
  }
});

test('a POST is not sent again after a worker died over it', async () => {
  const { world, deliveries } = await following(POST);
  const delivery = first(deliveries);
  // Another worker admits it and dies.
  const { release } = placeOf(delivery) ?? expect.fail('it names no release');
  await world.frontier.admit('r', release, 'dead');
  await world.pipeline().handle(delivery);
  expect(world.site.count('/form')).toBe(0);
  expect(await world.letters()).toMatchObject([
    { reason: 'unknown_fate', error: expect.stringMatching(/^a worker died over this POST: it may have been/) },
  ]);
});

test('a POST whose answer could not be stored is not sent again', async () => {
  const { world, deliveries } = await following(POST);
  world.site.on('/form', tell);
  world.sink.failure = new Error('no space left');
  await world.pipeline().handle(first(deliveries));
  world.sink.failure = undefined;
  await world.pipeline().handle(first(await world.deliveries()));
  expect(world.site.count('/form')).toBe(1);
  expect(await world.letters()).toMatchObject([
    { reason: 'unknown_fate', error: expect.stringMatching(/^nothing could be stored after this POST/) },
  ]);
});

test('a POST whose links a full store refused is not sent again', async () => {
  const crawler = defineCrawler({
    name: 'asking',
    steps: {
      start: { to: ['answer'], run: ({ follow }) => follow('answer', POST) },
      answer: { to: ['more'], run: ({ follow }) => follow('more', '/page/2') },
      more: { run() {} },
    },
  });
  const world = await setup({ crawler, run: { dedup: 'run' } });
  world.site.on('/form', tell);
  await world.pipeline().handle(await deliver(world, '/page/1'));
  const full = withMethods(world.frontier, { offer: async () => ({ refused: 'full' }) });
  await world.pipeline({ frontier: full }).handle(first(await world.deliveries()));
  world.clock.step(FULL_NAP_MS);
  await world.pipeline().handle(first(await world.deliveries()));
  expect(world.site.count('/form')).toBe(1);
  expect(await world.letters()).toMatchObject([
    { reason: 'unknown_fate', error: expect.stringMatching(/^nothing could be stored after this POST/) },
  ]);
});

test('a request that is too deep counts as left out even if its URL was followed with another body', async () => {
  const next = (number: number) => ({ url: '/search', method: 'POST', body: { page: number } }) as const;
  const crawler = defineCrawler({
    name: 'paging',
    steps: { list: { to: ['list'], run: ({ page, follow }) => follow('list', next(page.task.depth + 2)) } },
  });
  const world = await setup({ crawler, run: { dedup: 'run', maxDepth: 1 } });
  world.site.on('/search', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
  const pipeline = world.pipeline();
  await pipeline.handle(await deliver(world, '/page/1'));
  await pipeline.handle(first(await world.deliveries()));
  expect(await world.runs.progress('r')).toMatchObject({ discovered: 2, done: 2, leftOut: { depth: 1 } });
});
