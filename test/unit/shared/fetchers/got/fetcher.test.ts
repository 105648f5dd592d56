import { once } from 'node:events';
import { expect, test } from 'vitest';
import { setup } from '../setup.ts';

test('a page is told with its address, status, headers and time', async () => {
  const { fetch, site } = await setup({ site: { pages: 2, pageBytes: 5_000 } });
  const page = await fetch('/page/1');
  expect(page).toEqual({
    finalUrl: site.url('/page/1'),
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(page.body.length),
      date: expect.any(String),
    },
    body: expect.any(Uint8Array),
    durationMs: expect.any(Number),
  });
  expect(page.body.length).toBeGreaterThanOrEqual(5_000);
  expect(Buffer.from(page.body).toString()).toContain('<title>Page 1</title>');
});

test.each([204, 304, 400, 403, 404, 410, 429, 500, 503])('status %i is an answer', async (status) => {
  const { fetch } = await setup();
  expect(await fetch(`/status/${status}?retry-after=7`)).toMatchObject({ status, headers: { 'retry-after': '7' } });
});

test('of the headers those of the list are kept, as one text each', async () => {
  const { fetch, site } = await setup();
  site.on('/headers', (_, response) => {
    response.writeHead(200, {
      ETag: '"1"',
      Link: ['<a>; rel=next', '<b>; rel=prev'],
      'Set-Cookie': ['a=1', 'b=2'],
      'X-Powered-By': 'steam',
      'X-Robots-Tag': 'noindex',
    });
    response.end();
  });
  const { date: _, ...headers } = (await fetch('/headers')).headers;
  expect(headers).toEqual({ etag: '"1"', link: '<a>; rel=next, <b>; rel=prev', 'x-robots-tag': 'noindex' });
});

test('a request says who asks and what it can read, and keeps no cookies', async () => {
  const { fetch, site } = await setup({ userAgent: 'TrawlBot/9 (+https://a.test)' });
  await fetch('/cookie');
  await fetch('/page/1');
  expect(site.requests.at(-1)?.headers).toEqual({
    'user-agent': 'TrawlBot/9 (+https://a.test)',
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'accept-encoding': 'gzip, deflate, br, zstd',
    host: site.host,
    connection: 'keep-alive',
  });
});

test('nothing is asked twice', async () => {
  const { fetch, site } = await setup();
  await expect(fetch('/reset')).rejects.toMatchObject({ reason: 'connection' });
  await fetch('/status/503');
  expect(site.requests.map(({ path }) => path)).toEqual(['/reset', '/status/503']);
});

test('but for a request that a kept connection lost before its answer began: once more, on another connection', async () => {
  const { fetch, site } = await setup();
  const used = new Set<unknown>();
  site.on('/idle-too-long', ({ socket }, response) => {
    if (used.has(socket)) socket.resetAndDestroy();
    else response.end('well');
    used.add(socket);
  });
  await fetch('/idle-too-long');
  expect(await fetch('/idle-too-long')).toMatchObject({ status: 200 });
  expect([site.requests.length, site.connections]).toEqual([3, 2]);
  await expect(fetch('/reset')).rejects.toMatchObject({ reason: 'connection' });
  expect(site.requests.map(({ path }) => path).slice(3)).toEqual(['/reset', '/reset']);
});

test('a connection is used again, after an answer of any kind that was read to its end', async () => {
  const { fetch, fetcher, site } = await setup();
  for (const path of ['/page/1', '/gzip', '/br', '/status/404', '/big?bytes=900000&chunked', '/page/2']) {
    await fetch(path);
  }
  const { body } = await fetcher.open({ url: site.url('/page/1'), maxBodyBytes: 10_000 });
  for await (const piece of body) expect(piece.length).toBeGreaterThan(0);
  await fetch('/page/3');
  expect(site.connections).toBe(1);
});

test('what becomes of a connection after an answer that was read to its end is no error of anybody', async () => {
  const { fetch, site } = await setup();
  // Reset in the same turn as the end, and a little later.
  for (const [index, delayMs] of [0, 1, 5, 20].entries()) {
    let reset: Promise<unknown> | undefined;
    site.on(`/then-reset/${index}`, ({ socket }, response) => {
      reset = once(socket, 'close');
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '4' });
      response.end('well', () => void setTimeout(() => socket.resetAndDestroy(), delayMs));
    });
    const page = await fetch(`/then-reset/${index}`);
    expect(Buffer.from(page.body).toString()).toBe('well');
    await reset;
  }
  expect(await fetch('/page/1')).toMatchObject({ status: 200 });
});

test('as many connections as requests at once, and no more', async () => {
  const { fetch, site } = await setup();
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 8 }, (_, n) => fetch(`/page/${n + 1}`)));
  }
  expect(site.requests).toHaveLength(80);
  expect(site.connections).toBe(8);
});

test('a redirect is an answer like any other, and its body is let go, though it never end', async () => {
  const { fetch, site } = await setup();
  for (const status of [301, 302, 303, 307, 308]) {
    expect(await fetch(`/redirect-to?url=/page/2&status=${status}`)).toMatchObject({
      ...{ status, finalUrl: site.url(`/redirect-to?url=/page/2&status=${status}`) },
      headers: { location: '/page/2' },
    });
  }
  expect(await fetch('/endless-redirect?url=/page/1')).toMatchObject({ status: 302 });
  expect(site.requests).toHaveLength(6);
});

test('a redirect to nowhere is an answer, too', async () => {
  const { fetch } = await setup();
  expect(await fetch('/status/301')).toMatchObject({ status: 301 });
  expect(await fetch('/status/300')).toMatchObject({ status: 300 });
});

test('after stop no connection is kept, whatever was under way', async () => {
  const { fetch, fetcher, site } = await setup();
  await fetch('/page/1');
  site.on('/late', (_, response) => setImmediate(() => response.end('late')));
  const underWay = fetch('/late');
  await site.arrival('/late');
  await fetcher.stop();
  await fetcher.stop();
  expect(await underWay).toMatchObject({ status: 200 });
  await site.disconnection();
});
