import { expect, test } from 'vitest';
import { placeOf } from '../../../../../../services/worker/delivered.ts';
import type { Middleware } from '../../../../../../shared/crawler/around/middleware.ts';
import { defineCrawler } from '../../../../../../shared/crawler/crawler.ts';
import { setup } from '../../setup.ts';

const search = { method: 'POST', body: { q: 'lamp' } } as const;

/** A page at `/api` that echoes its request, and a crawler with these hooks as middleware. */
async function asking(...hooks: NonNullable<Middleware['beforeFetch']>[]) {
  const middleware = hooks.map((beforeFetch, n): Middleware => ({ name: `m${n}`, beforeFetch }));
  const crawler = defineCrawler({
    name: 'api',
    middleware,
    steps: { start: { run: ({ page, emit }) => emit(page.text) } },
  });
  const world = await setup({ crawler });
  const { site } = world;
  site.on('/api', async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { 'content-type': type = '-', 'x-a': a = '-' } = request.headers;
    response.writeHead(200, { 'content-type': 'text/html' }).end(`${request.method} ${type} ${a} ${body}`);
  });
  await world.offer('/api');
  const work = async (): Promise<void> => {
    for (const delivery of await world.deliveries()) await world.pipeline().handle(delivery);
  };
  return { ...world, work };
}

test('`beforeFetch` changes method, body and headers, but not the identity of the page', async () => {
  const { work, sink, site, offer, runs } = await asking(() => ({ ...search, headers: { 'X-A': '1' } }));
  await work();
  expect(sink.records).toMatchObject([
    { outcome: 'done', url: site.url('/api'), data: 'POST application/json 1 {"q":"lamp"}' },
  ]);
  // Its mark is that of the unchanged request, so it is known.
  await offer('/api');
  await work();
  expect(site.count('/api')).toBe(1);
  expect(await runs.progress('r')).toMatchObject({ done: 1, discovered: 1 });
});

// biome-ignore format: a table
test.each<[string, readonly NonNullable<Middleware['beforeFetch']>[], string]>([
  ['a form',                          [() => ({ method: 'POST', body: new URLSearchParams({ q: 'a b' }) })],               'POST application/x-www-form-urlencoded;charset=UTF-8 - q=a+b'],
  ['one with its own content type',               [() => ({ ...search, headers: { 'Content-Type': 'application/x' } })],               'POST application/x - {"q":"lamp"}'],
  ['one with the headers of a second hook',    [() => search, () => ({ headers: { 'X-A': '2' } })],                                 'POST application/json 2 {"q":"lamp"}'],
  ['one built on what the hook before made',    [() => search, ({ method, body }) => ({ headers: { 'X-A': `${method} ${body}` } })], 'POST application/json POST {"q":"lamp"} {"q":"lamp"}'],
  ['one with another body and the same method', [() => search, () => ({ body: 'text' })],                                            'POST text/plain;charset=UTF-8 - text'],
  ['a GET without a body',   [() => search, () => ({ method: 'GET' })],                                           'GET - - '],
  ['one with another method and the same body',   [() => search, () => ({ method: 'PUT' })],                                           'PUT application/json - {"q":"lamp"}'],
])('hooks turn a request into %s', async (_, hooks, said) => {
  const { work, sink } = await asking(...hooks);
  await work();
  expect(sink.records).toMatchObject([{ outcome: 'done', data: said }]);
});

// biome-ignore format: a table
test.each<[string, object, string, string]>([
  ['an unknown method', { method: 'FETCH' },                            'step',      'expected method to be one of GET, HEAD, POST'],
  ['a GET with a body',          { body: 'a' },                                  'step',      'a GET has no body'],
  ['a body of bytes',            { method: 'POST', body: new Uint8Array(1) },    'step',      'expected a body of text, got bytes'],
  ['a body that is too large',   { method: 'POST', body: 'x'.repeat(65_537) },   'too_large', 'its body has 65537 bytes, more than 65536'],
  ['a type without a body',      { headers: { 'content-type': 'text/x' } },      'step',      'header "content-type": can\'t be set'],
])('%s fails the page with an error that names the middleware', async (_, changed, reason, error) => {
  const { work, sink, site } = await asking(() => changed as never);
  await work();
  expect(sink.records).toMatchObject([{ outcome: 'failed', reason, error: expect.stringContaining(error) }]);
  expect(sink.records).toMatchObject([{ error: expect.stringContaining('middleware m0 (beforeFetch)') }]);
  expect(site.count('/api')).toBe(0);
});

test('a GET changed into a POST is not sent again when its fate is unknown, unless it is idempotent', async () => {
  for (const idempotent of [undefined, true] as const) {
    const how = idempotent === undefined ? {} : { idempotent };
    const { work, site, runs, letters } = await asking(() => ({ ...search, ...how }));
    site.on('/api', (request) => void request.socket.destroy());
    await work();
    if (idempotent) expect(await runs.progress('r')).toMatchObject({ waiting: 1 });
    else
      expect(await letters()).toMatchObject([{ reason: 'unknown_fate', error: expect.stringContaining('to a POST') }]);
  }
});

test('a GET changed into a POST is not sent again after a worker died over it', async () => {
  const { deliveries, frontier, pipeline, site, letters } = await asking(() => search);
  const [delivery] = await deliveries();
  const { release } = (delivery === undefined ? undefined : placeOf(delivery)) ?? expect.fail('it was due');
  // Another worker admits it and dies.
  await frontier.admit('r', release, 'dead');
  if (delivery !== undefined) await pipeline().handle(delivery);
  expect(site.count('/api')).toBe(0);
  expect(await letters()).toMatchObject([
    { reason: 'unknown_fate', error: expect.stringMatching(/^a worker died over this POST/) },
  ]);
});

test('a GET changed into a POST is not sent again when its answer could not be stored', async () => {
  const { work, sink, site, letters } = await asking(() => search);
  sink.failure = new Error('no space left');
  await work();
  sink.failure = undefined;
  await work();
  expect(site.count('/api')).toBe(1);
  expect(await letters()).toMatchObject([
    { reason: 'unknown_fate', error: expect.stringMatching(/^nothing could be stored after this POST/) },
  ]);
});
