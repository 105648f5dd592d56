import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { FetchError } from '../../../../shared/ports/fetcher.ts';
import { TestSite } from '../../../support/site.ts';
import { allOf, type Setup } from './setup.ts';

// Longer than any valid label, so every resolver rejects it without a query.
const nobody = `${'x'.repeat(64)}.invalid`;

/** Requests that get no answer: each rejects with a reason, and in time. */
export function describeFailures(setup: Setup): void {
  describe('failures', () => {
    // biome-ignore format: a table
    test.each([
  ['/reset',                                      'connection',   undefined],
  ['/reset-body',                                 'connection',   200],
  ['/truncated',                                  'connection',   200],
  ['/truncated-chunks',                           'connection',   200],
  ['/overlong',                                   'connection',   200],
  ['/no-http',                                    'connection',   undefined],
  ['/endless-headers',                            'connection',   undefined],
  ['/bad-chunks',                                 'connection',   200],
  ['/bad-gzip',                                   'encoding',     200],
  ['/bad-deflate',                                'encoding',     200],
  ['/bad-br',                                     'encoding',     200],
  ['/bad-zstd',                                   'encoding',     200],
  ['/cut-gzip',                                   'encoding',     200],
  ['/cut-deflate',                                'encoding',     200],
  ['/cut-br',                                     'encoding',     200],
  ['/cut-zstd',                                   'encoding',     200],
  ['/coded-as?name=compress',                     'encoding',     200],
  ['/coded-as?name=gzip,gzip,gzip',               'encoding',     200],
  ['/big?bytes=1000001',                          'size',         200],
  ['/big?bytes=1000001&chunked',                  'size',         200],
  ['/endless',                                    'size',         200],
])('fetching %s fails with reason %s', async (path, reason, status) => {
  const { fetch } = await setup();
  await expect(fetch(path)).rejects.toMatchObject({ name: 'FetchError', reason, status });
});

    // biome-ignore format: a table
    test.each([
  [`http://${nobody}/`,   'nxdomain'],
  [`https://${nobody}/`,  'nxdomain'],
  ['ftp://127.0.0.1/',    'bad_url'],
  ['no url at all',       'bad_url'],
  ['/page/1',             'bad_url'],
  ['unix:/run/sock:/a',   'bad_url'],
  ['http://unix:/sock:/', 'bad_url'],
])('the URL %s fails with reason %s', async (url, reason) => {
  const { fetcher } = await setup();
  await expect(fetcher.fetch({ url, maxBodyBytes: 1_000 })).rejects.toMatchObject({ reason });
});

    test('a URL with the port 0 fails with `connection`, and the default port is not connected to', async () => {
      const { fetcher } = await setup();
      const asked = { url: 'http://127.0.0.1:0/', maxBodyBytes: 1_000 };
      const problem = { reason: 'connection', message: 'No server has the port 0: 127.0.0.1:0' };
      await expect(fetcher.fetch(asked)).rejects.toMatchObject(problem);
      await expect(fetcher.open(asked)).rejects.toMatchObject(problem);
    });

    // biome-ignore format: a table
    test.each([
  ['/hang',                     undefined],
  ['/drip-headers',             undefined],
  ['/drip?ms=5',                200],
])('fetching %s fails with reason timeout', async (path, status) => {
  const { fetch } = await setup({ timeoutMs: 150 });
  await expect(fetch(path)).rejects.toMatchObject({ reason: 'timeout', status });
});

    test('a body without a length fails with `connection` when its connection is reset', async () => {
      const { fetch, fetcher, site } = await setup();
      site.on('/reset', ({ socket }) => {
        socket.write('HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\nhalf', () => socket.resetAndDestroy());
      });
      await expect(fetch('/reset')).rejects.toMatchObject({ reason: 'connection', status: 200 });
      const { body } = await fetcher.open({ url: site.url('/reset') });
      await expect(allOf({ body })).rejects.toMatchObject({ reason: 'connection', status: 200 });
    });

    test('a look-up that fails temporarily fails with reason dns', async () => {
      const { fetcher } = await setup({
        resolve: () => Promise.reject(Object.assign(new Error('try again'), { code: 'EAI_AGAIN' })),
      });
      const request = fetcher.fetch({ url: 'http://some.test/', maxBodyBytes: 1_000 });
      await expect(request).rejects.toMatchObject({ reason: 'dns' });
    });

    test('a look-up that takes too long fails with reason timeout', async () => {
      const { fetcher } = await setup({ timeoutMs: 50, resolve: () => new Promise(() => {}) });
      const request = fetcher.fetch({ url: 'http://some.test/', maxBodyBytes: 1_000 });
      await expect(request).rejects.toMatchObject({ reason: 'timeout' });
    });

    test('a signal aborts a look-up at once', async () => {
      const asked = Promise.withResolvers<void>();
      const { fetcher } = await setup({
        resolve: () => {
          asked.resolve();
          return new Promise(() => {});
        },
      });
      const controller = new AbortController();
      const url = 'http://some.test/';
      const requests = [
        fetcher.fetch({ url, maxBodyBytes: 1_000, signal: controller.signal }),
        fetcher.open({ url, signal: controller.signal }),
      ];
      const ended = Promise.allSettled(requests);
      await asked.promise;
      controller.abort(new Error('enough'));
      for (const each of await ended) expect(each).toMatchObject({ status: 'rejected', reason: { reason: 'aborted' } });
    });

    test('a signal aborts a connection that is being made', async () => {
      const { fetcher } = await setup();
      const mute = createServer((socket) => socket.on('error', () => {}).resume());
      await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
      const controller = new AbortController();
      const url = `https://127.0.0.1:${(mute.address() as { port: number }).port}/`;
      const request = fetcher.fetch({ url, maxBodyBytes: 1_000, signal: controller.signal });
      const noted = request.catch((error: unknown) => error);
      await once(mute, 'connection');
      controller.abort();
      expect(await noted).toMatchObject({ reason: 'aborted' });
      // Closes only once all connections are closed.
      await new Promise((resolve) => mute.close(resolve));
    });

    test('a port that nobody listens on fails with reason connection', async () => {
      const { fetcher } = await setup();
      const gone = new TestSite();
      await gone.start();
      const url = gone.url('/');
      await gone.stop();
      await expect(fetcher.fetch({ url, maxBodyBytes: 1_000 })).rejects.toMatchObject({ reason: 'connection' });
    });

    test('an https URL of a server without TLS fails with reason tls', async () => {
      const { fetcher, site } = await setup();
      const url = site.url('/').replace('http:', 'https:');
      await expect(fetcher.fetch({ url, maxBodyBytes: 1_000 })).rejects.toMatchObject({ reason: 'tls' });
    });

    test('a handshake that never ends fails with reason timeout', async () => {
      const { fetcher } = await setup({ timeoutMs: 100 });
      const mute = createServer((socket) => socket.on('error', () => {}).resume());
      await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
      const url = `https://127.0.0.1:${(mute.address() as { port: number }).port}/`;
      await expect(fetcher.fetch({ url, maxBodyBytes: 1_000 })).rejects.toMatchObject({ reason: 'timeout' });
      await new Promise((resolve) => mute.close(resolve));
    });

    test.each(['/hang', '/drip?ms=10'])('a signal aborts %s', async (path) => {
      const { fetcher, site } = await setup();
      const controller = new AbortController();
      const request = fetcher.fetch({ url: site.url(path), maxBodyBytes: 1e9, signal: controller.signal });
      await site.arrival(path);
      controller.abort(new Error('enough'));
      await expect(request).rejects.toMatchObject({ reason: 'aborted', cause: new Error('enough') });
    });

    test('a request whose signal is already aborted sends nothing', async () => {
      const { fetcher, site } = await setup();
      const request = fetcher.fetch({ url: site.url('/page/1'), maxBodyBytes: 1_000, signal: AbortSignal.abort() });
      await expect(request).rejects.toMatchObject({ reason: 'aborted' });
      expect(site.requests).toEqual([]);
    });

    test('a header of 100 KB fails with reason connection; one of 60 KB or 1,500 small ones are read', async () => {
      const { fetch, site } = await setup();
      site.on('/long', (_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end());
      await expect(fetch('/long')).rejects.toMatchObject({ reason: 'connection' });
      site.on('/policy', (_, response) =>
        response.writeHead(200, { policy: 'x'.repeat(60_000), etag: '"2"' }).end('well'),
      );
      expect(await fetch('/policy')).toMatchObject({ status: 200, headers: { etag: '"2"' } });
      const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`x-${n}`, '']));
      site.on('/many', (_, response) => response.writeHead(200, { etag: '"1"', ...many }).end('well'));
      const { headers, body } = await fetch('/many');
      expect([headers.etag, Buffer.from(body).toString()]).toEqual(['"1"', 'well']);
    });

    test('a failure retains nothing of its request', async () => {
      const { fetch } = await setup();
      const error: unknown = await fetch('/truncated').catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(FetchError);
      expect(Object.keys(error as object).sort()).toEqual(['code', 'name', 'reason', 'status']);
    });
  });
}
