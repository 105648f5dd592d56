import { once } from 'node:events';
import { expect, test } from 'vitest';
import { setup } from './setup.ts';

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
  const { fetch, site } = await setup({ userAgent: 'TrawlBot/9 (+https://a.test)', headers: { 'X-Crawl': '1' } });
  await fetch('/cookie');
  await fetch('/page/1');
  expect(site.requests.at(-1)?.headers).toEqual({
    'user-agent': 'TrawlBot/9 (+https://a.test)',
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'accept-encoding': 'gzip, deflate, br, zstd',
    'x-crawl': '1',
    host: site.host,
    connection: 'keep-alive',
  });
});

test('nothing is asked twice', async () => {
  const { fetch, site } = await setup();
  await fetch('/status/503');
  await expect(fetch('/reset')).rejects.toMatchObject({ reason: 'connection' });
  expect(site.requests.map(({ path }) => path)).toEqual(['/status/503', '/reset']);
});

test('a connection is used again, after an answer of any kind that was read to its end', async () => {
  const { fetch, fetcher, site } = await setup();
  for (const path of [
    '/page/1',
    '/gzip',
    '/br',
    '/status/404',
    '/redirect/3',
    '/big?bytes=900000&chunked',
    '/page/2',
  ]) {
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

test('redirects are followed, and the last address told without its fragment', async () => {
  const { fetch, site } = await setup();
  expect(await fetch('/redirect/10')).toMatchObject({ status: 200, finalUrl: site.url('/page/1') });
  const target = encodeURIComponent(`${site.url('/page/2')}#part`);
  for (const status of [301, 302, 303, 307, 308]) {
    const page = await fetch(`/redirect-to?url=${target}&status=${status}`);
    expect(page).toMatchObject({ status: 200, finalUrl: site.url('/page/2') });
  }
});

test('the number of redirects is an option', async () => {
  const { fetch } = await setup({ maxRedirects: 2 });
  expect(await fetch('/redirect/2')).toMatchObject({ status: 200 });
  await expect(fetch('/redirect/3')).rejects.toMatchObject({ reason: 'redirects', status: 302 });
});

test('a request may have a number of redirects of its own', async () => {
  const { fetcher, site } = await setup({ maxRedirects: 2 });
  const open = (n: number, maxRedirects: number) =>
    fetcher.open({ url: site.url(`/redirect/${n}`), maxBodyBytes: 10_000, maxRedirects });
  await expect(open(2, 1)).rejects.toMatchObject({ reason: 'redirects' });
  const { status, body } = await open(5, 5);
  for await (const piece of body) expect(piece.length).toBeGreaterThan(0);
  expect(status).toBe(200);
});

test.each([
  ['/redirect-to?url=http://10.0.0.1/', 'private_address', true],
  ['/redirect-to?url=http://127.0.0.1:1/', 'connection', true],
  ['/reset', 'connection', false],
])('%s fails by %s; behind a redirect: %s', async (path, reason, redirected) => {
  const { fetch } = await setup();
  await expect(fetch(path)).rejects.toMatchObject({ reason, redirected });
});

test('a redirect to nowhere is an answer', async () => {
  const { fetch } = await setup();
  expect(await fetch('/status/301')).toMatchObject({ status: 301 });
  expect(await fetch('/status/300')).toMatchObject({ status: 300 });
});

test('a redirect whose body never ends is followed, and then let go', async () => {
  const { fetch, site } = await setup();
  expect(await fetch('/endless-redirect?url=/page/1')).toMatchObject({ status: 200, finalUrl: site.url('/page/1') });
});

test('a redirect whose body breaks off is followed', async () => {
  const { fetch, site } = await setup();
  let moved = (): void => {};
  site.on('/broken', ({ socket }, response) => {
    response.writeHead(302, { location: '/then', 'content-length': 100 }).write('moved');
    moved = () => socket.destroy();
  });
  site.on('/then', (_, response) => {
    // The answer waits until the other connection is gone.
    moved();
    setImmediate(() => response.end('there'));
  });
  expect(Buffer.from((await fetch('/broken')).body).toString()).toBe('there');
});

test('credentials and headers of our own stay with the origin they are for', async () => {
  const { site: other } = await setup();
  const { fetcher, site } = await setup({ headers: { 'X-Api-Key': 'secret' } });
  const redirect = `/redirect-to?url=${encodeURIComponent(other.url('/page/1'))}`;
  const url = site.url(redirect).replace('http://', 'http://jo:pass@');
  const page = await fetcher.fetch({ url, maxBodyBytes: 10_000 });
  expect(page.finalUrl).toBe(other.url('/page/1'));
  expect(site.requests[0]?.headers).toMatchObject({ authorization: 'Basic am86cGFzcw==', 'x-api-key': 'secret' });
  expect(other.requests[0]?.headers).not.toHaveProperty('authorization');
  expect(other.requests[0]?.headers).not.toHaveProperty('x-api-key');
  expect(other.requests[0]?.headers).toMatchObject({ 'user-agent': 'TrawlBot/1' });
});

test('on one origin they go along', async () => {
  const { fetcher, site } = await setup({ headers: { 'X-Api-Key': 'secret' } });
  await fetcher.fetch({ url: site.url('/redirect/1').replace('http://', 'http://jo:pass@'), maxBodyBytes: 10_000 });
  expect(site.requests.at(-1)?.headers).toMatchObject({ authorization: 'Basic am86cGFzcw==', 'x-api-key': 'secret' });
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
