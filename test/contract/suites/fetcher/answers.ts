import { describe, expect, test } from 'vitest';
import type { Setup } from './setup.ts';

const MODIFIED = 'Sat, 21 Nov 2026 09:30:15 GMT';

/** What a request sends, and what its answer contains. */
export function describeAnswers(setup: Setup): void {
  describe('answers', () => {
    test('a page has its final URL, status, headers, body and duration', async () => {
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

    test('the final URL of an answer has no fragment', async () => {
      const { fetch, fetcher, site } = await setup();
      expect(await fetch('/page/1#part')).toMatchObject({ finalUrl: site.url('/page/1') });
      const document = await fetcher.open({ url: site.url('/page/1#part') });
      document.body.destroy();
      expect(document.finalUrl).toBe(site.url('/page/1'));
    });

    test.each([204, 304, 400, 403, 404, 410, 429, 500, 503])(
      'status %i is an answer, not a failure',
      async (status) => {
        const { fetch } = await setup();
        expect(await fetch(`/status/${status}?retry-after=7`)).toMatchObject({
          status,
          headers: { 'retry-after': '7' },
        });
      },
    );

    test.each(['Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'Content-Length: 4\r\n\r\nwell'])(
      'a 204 has no body although its server sends %j',
      async (sent) => {
        const { fetch, fetcher, site } = await setup();
        site.on('/nothing', ({ socket }) => void socket.end(`HTTP/1.1 204 No Content\r\n${sent}`));
        expect(await fetch('/nothing')).toMatchObject({ status: 204, body: new Uint8Array() });
        const { status, body } = await fetcher.open({ url: site.url('/nothing') });
        expect([status, await Array.fromAsync(body)]).toEqual([204, []]);
      },
    );

    test('all headers but cookies and those of the connection are kept, each joined into one text', async () => {
      const { fetch, site } = await setup();
      site.on('/headers', (_, response) => {
        response.writeHead(200, {
          ETag: '"1"',
          Link: ['<a>; rel=next', '<b>; rel=prev'],
          Refresh: '0; url=/en/',
          'Set-Cookie': ['a=1', 'b=2'],
          Trailer: 'X-Sum',
          Upgrade: 'h2c',
          'X-Robots-Tag': 'noindex',
          'X-Total-Count': ['40', '41'],
        });
        response.end();
      });
      const { date: _, ...headers } = (await fetch('/headers')).headers;
      expect(headers).toEqual({
        etag: '"1"',
        link: '<a>; rel=next, <b>; rel=prev',
        refresh: '0; url=/en/',
        'x-robots-tag': 'noindex',
        'x-total-count': '40, 41',
      });
    });

    // biome-ignore format: a table
    test.each([
  ['content-type',      'text/html'],
  ['retry-after',       'text/html'],
  ['location',          'text/html'],
  ['etag',              'text/html'],
  ['last-modified',     'text/html'],
  ['expires',           'text/html'],
  ['age',               'text/html'],
  ['server',            'text/html'],
  ['cache-control',     'text/html, text/plain'],
  ['content-language',  'text/html, text/plain'],
  ['content-encoding',  'text/html, text/plain'],
  ['date',              'text/html, text/plain'],
  ['link',              'text/html, text/plain'],
  ['x-robots-tag',      'text/html, text/plain'],
] as const)('a `%s` sent twice is read as in Node.js: %s', async (name, read) => {
  const { fetch, site } = await setup();
  site.on('/twice', ({ socket }) => {
    const both = `${name}: text/html\r\nX-Other: 1\r\n${name.toUpperCase()}: text/plain\r\n`;
    socket.end(`HTTP/1.1 200 OK\r\n${both}content-length: 0\r\n\r\n`);
  });
  expect((await fetch('/twice')).headers[name]).toBe(read);
});

    test('an `X-Robots-Tag` for all crawlers is put before one for another crawler, so that it keeps its meaning', async () => {
      const { fetch, site } = await setup();
      site.on('/tags', (_, response) => {
        response.writeHead(200, { 'X-Robots-Tag': ['otherbot: noindex', 'nofollow'] }).end();
      });
      expect((await fetch('/tags')).headers['x-robots-tag']).toBe('nofollow, otherbot: noindex');
    });

    test('early hints are skipped until the final answer', async () => {
      const { fetch, site } = await setup();
      site.on('/hints', (_, response) => {
        response.writeEarlyHints({ link: '</style.css>; rel=preload' });
        response.end('well');
      });
      const { status, headers, body } = await fetch('/hints');
      expect([status, headers.link, Buffer.from(body).toString()]).toEqual([200, undefined, 'well']);
    });

    // biome-ignore format: a table
    test.each([
  ['lines that end with a line feed alone',     'HTTP/1.1 200 OK\ncontent-type: text/html\ncontent-length: 4\n\nwell'],
  ['a folded header',                           'HTTP/1.1 200 OK\r\ncontent-type:\r\n text/html\r\ncontent-length: 4\r\n\r\nwell'],
  ['control characters in a header',            'HTTP/1.1 200 OK\r\nx: a\x01\x00\r\ncontent-type: text/html\x7f\r\ncontent-length: 4\r\n\r\nwell'],
  ['blanks around a header value',            'HTTP/1.1 200 OK\r\ncontent-type:  text/html  \r\ncontent-length: 4\r\n\r\nwell'],
  ['a length beside its chunks',                'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n4\r\nwell\r\n0\r\n\r\n'],
  ['blanks after the length of a chunk',        'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n4   \r\nwell\r\n0\r\n\r\n'],
  ['a blank in the name of a header',           'HTTP/1.1 200 OK\r\nX Frame Options: DENY\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nwell'],
  ['a line that is no header',                  'HTTP/1.1 200 OK\r\nnginx\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nwell'],
  ['blanks before a colon',                     'HTTP/1.1 200 OK\r\ncontent-type : text/html\r\ncontent-length : 4\r\n\r\nwell'],
  ['a carriage return within a header',         'HTTP/1.1 200 OK\r\nx: a\rb\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nwell'],
  ['its content length twice',                          'HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nwell'],
  ['another length beside its chunks',          'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n4\r\nwell\r\n0\r\n\r\n'],
  ['a tab after its length',                   'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\t\r\n\r\nwell'],
  ['the transfer coding `identity`',            'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: identity\r\ncontent-length: 4\r\n\r\nwell'],
  ['a length among its trailers',               'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n4\r\nwell\r\n0\r\ncontent-length: 9\r\n\r\n'],
  ['an empty line after it',                   'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nwell\r\n'],
  ['a status line in lower case',            'http/1.1 200 ok\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nwell'],
  ['a change of protocol that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nwell'],
  ['a `100 Continue` before it',                'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\nwell'],
])('an answer with %s is read as in browsers', async (_, sent) => {
  const { fetch, site } = await setup();
  site.on('/sloppy', ({ socket }) => void socket.write(sent, 'latin1'));
  for (const _again of [1, 2]) {
    const { status, headers, body } = await fetch('/sloppy');
    expect([status, headers['content-type'], Buffer.from(body).toString()]).toEqual([200, 'text/html', 'well']);
  }
  expect(site.connections).toBe(1);
});

    test('headers that arrive byte by byte are read, and hints before them are skipped', async () => {
      const { fetch, site } = await setup();
      const sent =
        'HTTP/1.1 103 Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX Y: z\r\netag: "1"\r\ncontent-length: 4\r\n\r\nwell';
      site.on('/drops', async ({ socket }) => {
        for (const byte of sent) await new Promise<void>((resolve) => socket.write(byte, () => setImmediate(resolve)));
      });
      for (const _again of [1, 2]) {
        const { status, headers, body } = await fetch('/drops');
        expect([status, headers, Buffer.from(body).toString()]).toEqual([
          200,
          { etag: '"1"', 'content-length': '4' },
          'well',
        ]);
      }
      expect(site.connections).toBe(1);
    });

    test('a cookie with a control character is ignored', async () => {
      const { fetch, site } = await setup();
      const cookies = 'set-cookie: a=\x011\r\nset-cookie: b=2\r\n';
      site.on('/cookies', ({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\n${cookies}content-length: 0\r\n\r\n`));
      const told: string[] = [];
      await fetch('/cookies', { onCookies: (lines) => told.push(...lines) });
      expect(told).toEqual(['b=2']);
    });

    test('a request sends its user agent, what it accepts and the connection headers, and nothing else', async () => {
      const { fetch, site } = await setup({ userAgent: 'TrawlBot/9 (+https://a.test)' });
      await fetch('/page/1');
      expect(site.requests.at(-1)?.headers).toEqual({
        'user-agent': 'TrawlBot/9 (+https://a.test)',
        accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
        'accept-encoding': 'gzip, deflate, br, zstd',
        host: site.host,
        connection: 'keep-alive',
      });
    });

    test('validators are sent verbatim and make a request conditional; without them it is not', async () => {
      const { fetch, site } = await setup();
      site.on('/page', (_, response) => response.writeHead(304, { etag: 'W/"x"' }).end());
      const page = await fetch('/page', { validators: { etag: 'W/"x"', modified: MODIFIED } });
      expect(page).toMatchObject({ status: 304, headers: { etag: 'W/"x"' }, body: new Uint8Array() });
      await fetch('/page', { validators: { etag: '"y"' } });
      await fetch('/page');
      expect(site.requests.map(({ headers }) => [headers['if-none-match'], headers['if-modified-since']])).toEqual([
        ['W/"x"', MODIFIED],
        ['"y"', undefined],
        [undefined, undefined],
      ]);
      for (const { headers } of site.requests)
        expect(headers).toMatchObject({ 'user-agent': expect.anything(), 'accept-encoding': expect.anything() });
    });

    test('a redirect is returned as an answer, not followed', async () => {
      const { fetch, site } = await setup();
      for (const status of [301, 302, 303, 307, 308]) {
        expect(await fetch(`/redirect-to?url=/page/2&status=${status}`)).toMatchObject({
          ...{ status, finalUrl: site.url(`/redirect-to?url=/page/2&status=${status}`) },
          headers: { location: '/page/2' },
        });
      }
      expect(site.requests).toHaveLength(5);
    });

    test('a redirect without a location is an answer', async () => {
      const { fetch } = await setup();
      expect(await fetch('/status/301')).toMatchObject({ status: 301 });
      expect(await fetch('/status/300')).toMatchObject({ status: 300 });
    });

    test('the body of a redirect is discarded, even if it never ends', async () => {
      const { fetch } = await setup();
      expect(await fetch('/endless-redirect?url=/page/1')).toMatchObject({ status: 302, body: new Uint8Array() });
    });

    test('the body of a document is read, whatever its status', async () => {
      const { fetcher, site } = await setup();
      const { status, body } = await fetcher.open({ url: site.url('/not-here') });
      expect([status, Buffer.concat(await Array.fromAsync(body)).toString()]).toEqual([404, 'nothing here']);
    });

    test('a page of an unwanted content type fails with `content_type` without waiting for its body', async () => {
      const { fetch, site } = await setup();
      site.on('/film', (_, response) =>
        response.writeHead(200, { 'content-type': 'video/mp4' }).write('the first frame'),
      );
      const accepts = (contentType: string | undefined): boolean => contentType?.startsWith('text/') ?? false;
      await expect(fetch('/film', { accepts })).rejects.toMatchObject({ reason: 'content_type', status: 200 });
    });

    test('`accepts` is called for 2xx answers only, with undefined if there is no content type', async () => {
      const { fetch } = await setup();
      const asked: (string | undefined)[] = [];
      const accepts = (contentType: string | undefined): boolean => asked.push(contentType) > 0;
      for (const path of ['/status/404', '/type?ct=text/x', '/type', '/status/503']) await fetch(path, { accepts });
      expect(asked).toEqual(['text/x', undefined]);
    });
  });
}
