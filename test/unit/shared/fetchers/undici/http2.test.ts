import { once } from 'node:events';
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type SecureServerOptions,
  type ServerHttp2Session,
} from 'node:http2';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { BodyMemory } from '../../../../../shared/fetchers/body-memory.ts';
import type { FetcherOptions } from '../../../../../shared/fetchers/fetcher-options.ts';
import { UndiciFetcher } from '../../../../../shared/fetchers/undici/fetcher.ts';
import { PageHold } from '../../../../../shared/ports/fetcher.ts';
import { trustOurs } from '../../../../contract/suites/fetcher/proxy-setup.ts';
import { allowing } from '../../../../support/allowing.ts';
import { selfSigned } from '../../../../support/site/certificate.ts';

/** The highest stream number: a GOAWAY with it says that the server will end the connection, but not yet at which stream. */
const LAST_STREAM = 2 ** 31 - 1;

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** A site that speaks HTTP/2, and a fetcher for it. */
async function setup(options: Partial<FetcherOptions> = {}, own: SecureServerOptions = {}) {
  const handlers = new Map<string, Handler>();
  const asked: string[] = [];
  const sessions: ServerHttp2Session[] = [];
  const secure = { ...selfSigned, allowHTTP1: true, ...own };
  const server: Http2SecureServer = createSecureServer(secure, (request, response) => {
    asked.push(`${request.httpVersion} ${request.url}`);
    const handler = handlers.get(request.url);
    if (handler === undefined) response.end('well');
    else handler(request, response);
  });
  server.on('session', (session) => sessions.push(session));
  server.on('sessionError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const fetcher = new UndiciFetcher({
    timeoutMs: 5_000,
    userAgent: 'TrawlBot/1',
    allowedPrivate: allowing('127.0.0.0/8'),
    ...options,
  });
  onTestFinished(async () => {
    await fetcher.stop();
    // Not before its connections are closed: one that the fetcher leaks fails the test.
    await new Promise((resolve) => server.close(resolve));
  });
  const url = (path: string): string => `https://127.0.0.1:${port}${path}`;
  const fetch = (path: string, extra: { maxBodyBytes?: number; signal?: AbortSignal; hold?: PageHold } = {}) =>
    fetcher.fetch({ url: url(path), maxBodyBytes: 1_000_000, ...extra });
  return { handlers, asked, sessions, fetcher, fetch, url };
}

beforeAll(() => trustOurs(true));
afterAll(() => trustOurs(false));

test('a server that offers HTTP/2 gets all requests over one HTTP/2 connection', async () => {
  const { asked, sessions, fetch, url } = await setup();
  const page = await fetch('/first');
  expect([page.status, page.finalUrl, Buffer.from(page.body).toString()]).toEqual([200, url('/first'), 'well']);
  await Promise.all(Array.from({ length: 20 }, (_, n) => fetch(`/page/${n}`)));
  expect(asked).toHaveLength(21);
  expect(asked.every((each) => each.startsWith('2.0 '))).toBe(true);
  expect(sessions).toHaveLength(1);
});

test('a request has our headers, and an answer keeps its headers except set-cookie', async () => {
  const { handlers, fetch } = await setup();
  let said: object = {};
  handlers.set('/headers', ({ headers }, response) => {
    said = headers;
    response
      .writeHead(200, { etag: '"1"', 'set-cookie': ['a=1'], link: ['<a>', '<b>'], 'content-type': 'text/html' })
      .end();
  });
  const { date: _, ...headers } = (await fetch('/headers')).headers;
  expect(headers).toEqual({ etag: '"1"', link: '<a>, <b>', 'content-type': 'text/html' });
  expect(said).toMatchObject({ 'user-agent': 'TrawlBot/1', 'accept-encoding': 'gzip, deflate, br, zstd' });
});

test('an answer may have headers of 64 KiB, and one with more is refused', async () => {
  const { handlers, fetch } = await setup();
  const answer = (path: string, cookies: readonly string[]): void => {
    handlers.set(path, (_, response) => {
      response.setHeader('set-cookie', cookies);
      response.setHeader('content-type', 'text/html');
      response.end('well');
    });
  };
  answer(
    '/many',
    Array.from({ length: 1_200 }, (_, n) => `c${n}=1`),
  );
  answer(
    '/large',
    Array.from({ length: 1_200 }, (_, n) => `c${n}=${'x'.repeat(40)}`),
  );
  expect(await fetch('/many')).toMatchObject({ status: 200, headers: { 'content-type': 'text/html' } });
  await expect(fetch('/large')).rejects.toMatchObject({ reason: 'connection' });
  expect(await fetch('/page')).toMatchObject({ status: 200 });
});

test('an `X-Robots-Tag` for another crawler does not apply to the next tag', async () => {
  const { handlers, fetch } = await setup();
  handlers.set('/tags', ({ stream }) => {
    stream.respond({ ':status': 200, 'x-robots-tag': ['otherbot: noindex', 'nofollow'] }, { endStream: true });
  });
  expect((await fetch('/tags')).headers['x-robots-tag']).toBe('nofollow, otherbot: noindex');
});

test('bodies are decoded and limited in size, and the connection stays open', async () => {
  const { handlers, sessions, fetch } = await setup();
  const content = Buffer.alloc(300_000, 'x');
  handlers.set(
    '/gzip',
    (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(content)),
  );
  handlers.set('/large', (_, response) => void response.end(content));
  expect((await fetch('/gzip')).body).toHaveLength(300_000);
  expect((await fetch('/large')).body).toHaveLength(300_000);
  await expect(fetch('/large', { maxBodyBytes: 299_999 })).rejects.toMatchObject({ reason: 'size', status: 200 });
  expect(await fetch('/page')).toMatchObject({ status: 200 });
  expect(sessions).toHaveLength(1);
});

test('without memory bodies wait; the oldest on the connection is read on, however large', async () => {
  const bodyMemory = new BodyMemory(100_000);
  const { handlers, sessions, fetch } = await setup({ bodyMemory });
  const content = Buffer.alloc(1_000_000, 'x');
  handlers.set('/large', (_, response) => void response.end(content));
  const [first, second] = [new PageHold(), new PageHold()];
  await fetch('/page');
  await fetch('/page', { hold: first });
  const pages = Array.from({ length: 5 }, () => fetch('/large', { maxBodyBytes: 1_000_000 }));
  const held = fetch('/large', { maxBodyBytes: 1_000_000, hold: second });
  while (bodyMemory.waiting < 6) await new Promise((resolve) => setTimeout(resolve, 5));
  first.end();
  for (const { body } of await Promise.all(pages)) expect(body).toHaveLength(1_000_000);
  expect((await held).body).toHaveLength(1_000_000);
  second.end();
  expect([sessions.length, bodyMemory.usedBytes]).toEqual([1, 0]);
});

test('a document comes in pieces and can be left, and the connection stays open', async () => {
  const { handlers, sessions, fetch, fetcher, url } = await setup();
  let left = false;
  handlers.set('/endless', (request, response) => {
    // A stream of Node.js ends only when it was read.
    request.resume();
    response.stream.once('close', () => {
      left = true;
    });
    const more = (): void => {
      while (!response.stream.closed && response.write(Buffer.alloc(16_384, 'x')));
    };
    response.on('drain', more);
    more();
  });
  const { body } = await fetcher.open({ url: url('/endless') });
  let read = 0;
  for await (const piece of body) {
    read += piece.length;
    if (read > 1_000_000) break;
  }
  expect(await fetch('/page')).toMatchObject({ status: 200 });
  expect([left, sessions.length]).toEqual([true, 1]);
});

test('a request that is late or aborted ends alone, without the others on its connection', async () => {
  const { handlers, sessions, fetch } = await setup({ timeoutMs: 300 });
  const arrived = Promise.withResolvers<void>();
  handlers.set('/hang', () => {});
  handlers.set('/held', () => arrived.resolve());
  await fetch('/page');
  const stop = new AbortController();
  const late = fetch('/hang').catch((error: unknown) => error);
  const held = fetch('/held', { signal: stop.signal }).catch((error: unknown) => error);
  await arrived.promise;
  stop.abort();
  expect(await held).toMatchObject({ reason: 'aborted' });
  expect(await fetch('/page')).toMatchObject({ status: 200 });
  expect(await late).toMatchObject({ reason: 'timeout' });
  expect(await fetch('/page')).toMatchObject({ status: 200 });
  expect(sessions).toHaveLength(1);
});

test('a connection that has gone silent gets no further request, and is closed', async () => {
  const { handlers, sessions, fetch } = await setup({ timeoutMs: 1_000 });
  await fetch('/page/1');
  const answerElsewhere: Handler = ({ stream }, response) => {
    if (stream.session !== sessions[0]) response.end('well');
  };
  for (const path of ['/page/2', '/page/3', '/page/4']) handlers.set(path, answerElsewhere);
  const late = await Promise.allSettled([fetch('/page/2'), fetch('/page/3')]);
  expect(late).toMatchObject([{ reason: { reason: 'timeout' } }, { reason: { reason: 'timeout' } }]);
  expect(await fetch('/page/4')).toMatchObject({ status: 200 });
  expect(sessions.length).toBe(2);
  const [silent] = sessions;
  if (silent?.closed === false) await once(silent, 'close');
});

test('a stream that the server resets fails with the reason `connection`', async () => {
  const { handlers, fetch } = await setup();
  handlers.set('/reset', (_, response) => void response.stream.close(2));
  await expect(fetch('/reset')).rejects.toMatchObject({ reason: 'connection' });
});

test.each([
  ['cancels', constants.NGHTTP2_CANCEL],
  ['resets, without an error,', constants.NGHTTP2_NO_ERROR],
])('an answer that the server %s in its middle is not complete', async (_, code) => {
  const { handlers, fetch } = await setup();
  handlers.set('/cancelled', (_, { stream }) => {
    // Otherwise its end would be sent first.
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.write('half', () => void stream.close(code));
  });
  await expect(fetch('/cancelled')).rejects.toMatchObject({ reason: 'connection', status: 200 });
  expect(Buffer.from((await fetch('/page/1')).body).toString()).toBe('well');
});

test.each(['one request', 'the connection'])(
  'a server that refuses HTTP/2 for %s is asked over HTTP/1.1, from then on',
  async (refused) => {
    const { handlers, asked, sessions, fetch } = await setup();
    handlers.set('/refused', ({ httpVersion }, response) => {
      if (httpVersion === '1.1') response.end('old');
      else if (refused === 'one request') response.stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED);
      else sessions[0]?.goaway(constants.NGHTTP2_HTTP_1_1_REQUIRED);
    });
    expect(Buffer.from((await fetch('/refused')).body).toString()).toBe('old');
    expect(await fetch('/page/1')).toMatchObject({ status: 200 });
    expect(asked).toEqual(['2.0 /refused', '1.1 /refused', '1.1 /page/1']);
  },
);

test.each(['its first', 'a later'])(
  'a page that is requested just as %s answer breaks the connection is requested on another',
  async (answer) => {
    const { handlers, asked, sessions, fetch } = await setup();
    if (answer === 'a later') await fetch('/page/1');
    handlers.set('/overlong', (_, response) => response.writeHead(200, { 'content-length': '2' }).end('well'));
    await expect(fetch('/overlong')).rejects.toMatchObject({ reason: 'connection', status: 200 });
    expect(await fetch('/page/2')).toMatchObject({ status: 200 });
    expect([asked.at(-1), sessions.length]).toEqual(['2.0 /page/2', 2]);
  },
);

test('a request under way when the server closes its session is still answered', async () => {
  const { handlers, sessions, fetch } = await setup();
  await fetch('/page/1');
  const arrived = Promise.withResolvers<void>();
  let finish = (): void => {};
  handlers.set('/slow', (_, response) => {
    response.write('fir');
    finish = () => void response.end('st');
    arrived.resolve();
  });
  const slow = fetch('/slow');
  await arrived.promise;
  sessions[0]?.close();
  expect(await fetch('/page/2')).toMatchObject({ status: 200 });
  expect(sessions).toHaveLength(2);
  finish();
  expect(Buffer.from((await slow).body).toString()).toBe('first');
});

test('a connection that the server ends is replaced', async () => {
  const { sessions, fetch } = await setup();
  await fetch('/page/1');
  sessions[0]?.goaway();
  expect(await fetch('/page/2')).toMatchObject({ status: 200 });
  sessions.at(-1)?.destroy();
  expect(await fetch('/page/3')).toMatchObject({ status: 200 });
  expect(sessions.length).toBeGreaterThan(1);
});

test('a request that the server refuses as it ends the connection is made on another', async () => {
  const { handlers, asked, sessions, fetch } = await setup();
  await fetch('/page/1');
  handlers.set('/refused', (_, response) => {
    if (sessions.length > 1) response.end('well');
    else {
      sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM);
      setTimeout(() => response.stream.close(constants.NGHTTP2_REFUSED_STREAM), 50);
    }
  });
  expect(Buffer.from((await fetch('/refused')).body).toString()).toBe('well');
  expect([asked.filter((each) => each.endsWith('/refused')).length, sessions.length]).toEqual([2, 2]);
});

test('requests that wait for one connection get their own if the server no longer speaks HTTP/2', async () => {
  const protocols = ['h2'];
  const { asked, sessions, fetch } = await setup({}, { ALPNCallback: () => protocols.pop() ?? 'http/1.1' });
  await fetch('/1');
  sessions[0]?.destroy();
  const pages = await Promise.all(['/2', '/3', '/4'].map((path) => fetch(path)));
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(asked.toSorted()).toEqual(['1.1 /2', '1.1 /3', '1.1 /4', '2.0 /1']);
});

test('a request whose stream the server refuses is made again on the same connection', async () => {
  const { handlers, asked, sessions, fetch } = await setup();
  await fetch('/page/1');
  let times = 0;
  handlers.set('/refused', (_, response) => {
    times += 1;
    if (times > 1) response.end('well');
    else response.stream.close(constants.NGHTTP2_REFUSED_STREAM);
  });
  expect(Buffer.from((await fetch('/refused')).body).toString()).toBe('well');
  expect([asked.length, sessions.length]).toEqual([3, 1]);
});
