import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { allOf, type Setup } from './setup.ts';

const ENCODED: Readonly<Record<string, (body: Buffer) => Buffer>> = { gzip: gzipSync, br: brotliCompressSync };

const WELL = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell';

/** Where an answer ends (RFC 9112 section 6.3), and what happens to bytes that its server sends after that. */
export function describeFraming(setup: Setup): void {
  describe('framing', () => {
    // biome-ignore format: a table
    test.each([
  ['another answer',                         `${WELL}${WELL}`],
  ['a `100 Continue`',                       `${WELL}HTTP/1.1 100 Continue\r\n\r\n`],
  ['bytes before `connection: close`',      'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\nwell done'],
  ['bytes in HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\nwell done'],
  ['another answer before `connection: close`',  `HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n4\r\nwell\r\n0\r\n\r\n${WELL}`],
])('an answer followed by %s fails with `connection`, and the next page gets its own answer', async (_, sent) => {
  const { fetch, fetcher, site } = await setup();
  site.on('/surplus', ({ socket }) => void socket.write(sent));
  await expect(fetch('/surplus')).rejects.toMatchObject({ reason: 'connection', status: 200 });
  const { body } = await fetcher.open({ url: site.url('/surplus') });
  await expect(allOf({ body })).rejects.toMatchObject({ reason: 'connection', status: 200 });
  expect(Buffer.from((await fetch('/page/7')).body).toString()).toContain('<title>Page 7</title>');
});

    test.each([
      ['another answer', WELL],
      ['the beginning of another answer', 'HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n'],
      ['a `408 Request Timeout`', 'HTTP/1.1 408 Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'],
      ['no answer', 'x'],
    ])('%s that has arrived on an idle connection is not the answer to the next request', async (_, surplus) => {
      const { fetch, fetcher, site } = await setup();
      let late: Socket | undefined;
      site.on('/late', ({ socket }) => {
        late = socket;
        socket.write(WELL);
      });
      await fetch('/late');
      // Arrives at once, but is read only in the event loop's next turn.
      late?.write(surplus);
      expect(Buffer.from((await fetch('/page/7')).body).toString()).toContain('<title>Page 7</title>');
      await fetch('/late');
      late?.write(surplus);
      const document = await fetcher.open({ url: site.url('/page/8') });
      expect((await allOf(document)).toString()).toContain('<title>Page 8</title>');
      expect(site.requests.map(({ path }) => path)).toEqual(['/late', '/page/7', '/late', '/page/8']);
    });

    test.each(['connection: close\r\ncontent-length: 4', 'connection: close\r\ntransfer-encoding: chunked'])(
      'empty lines after an answer with %j are ignored',
      async (headers) => {
        const { fetch, site } = await setup();
        const body = headers.includes('chunked') ? '4\r\nwell\r\n0\r\n\r\n' : 'well';
        site.on('/lines', ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}\r\n\r\n`));
        expect(Buffer.from((await fetch('/lines')).body).toString()).toBe('well');
      },
    );

    test.each(['gzip', 'chunked, gzip', 'chunked;q=1', '"chunked"'])(
      'a body in the transfer coding %j ends with its connection, whatever its content length',
      async (coding) => {
        const { fetch, fetcher, site } = await setup();
        const head = `HTTP/1.1 200 OK\r\ntransfer-encoding: ${coding}\r\ncontent-length: 9\r\n\r\n`;
        site.on('/ended', ({ socket }) => void socket.end(`${head}well`));
        expect(Buffer.from((await fetch('/ended')).body).toString()).toBe('well');
        site.on('/reset', ({ socket }) => void socket.write(`${head}half`, () => socket.resetAndDestroy()));
        await expect(fetch('/reset')).rejects.toMatchObject({ reason: 'connection', status: 200 });
        const { body } = await fetcher.open({ url: site.url('/reset') });
        await expect(allOf({ body })).rejects.toMatchObject({ reason: 'connection', status: 200 });
      },
    );

    // biome-ignore format: a table
    test.each([
  ['gzip, chunked',   [],             'gzip'],
  ['gzip, chunked',   ['gzip'],       'gzip'],
  ['gzip, chunked',   ['gzip'],       'gzip, gzip'],
  ['gzip, chunked',   ['br'],         'gzip, br'],
  ['x-gzip',          [],             'gzip'],
  ['gzip',            [],             ''],
  ['gzip, chunked',   ['gzip', 'br'], 'br, gzip'],
] as const)('the transfer coding %j around %j is decoded if the body is really coded as %j', async (transfer, content, really) => {
  const { fetch, fetcher, site } = await setup();
  const page = Buffer.from('well '.repeat(1_000));
  const steps = really.split(', ').reverse();
  const coded = steps.reduce<Buffer>((body, step) => ENCODED[step]?.(body) ?? body, page);
  const [beginning, end] = [coded.subarray(0, 1), coded.subarray(1)];
  const inChunks = (part: Buffer): Buffer =>
    transfer.endsWith('chunked') ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]) : part;
  const head = content.length === 0 ? '' : `content-encoding: ${content.join(', ')}\r\n`;
  site.on('/coded', ({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\n${head}transfer-encoding: ${transfer}\r\n\r\n`);
    socket.write(inChunks(beginning));
    socket.end(Buffer.concat([inChunks(end), Buffer.from(transfer.endsWith('chunked') ? '0\r\n\r\n' : '')]));
  });
  expect(Buffer.from((await fetch('/coded')).body)).toEqual(page);
  expect(await allOf(await fetcher.open({ url: site.url('/coded') }))).toEqual(page);
});

    test.each([
      ['\n', '\r\n'],
      ['\n', '\n'],
      ['\r\n', '\r\n'],
      ['; extension\n', '\n'],
      ['; name="value"\r\n', '\r\n'],
      [' \r\n', '\r\n'],
    ])('chunks whose sizes end with %j and heads with %j are read to their ends', async (end, headEnd) => {
      const { fetch, fetcher, site } = await setup();
      const head = `HTTP/1.1 200 OK${headEnd}transfer-encoding: chunked${headEnd}${headEnd}`;
      const line = end.endsWith('\r\n') ? '\r\n' : '\n';
      // The content of chunks can look like ends of lines and like sizes.
      const contents = ['\nwell', '\r\n', '\n0\n\n', 'x'.repeat(300), '\n'];
      const chunks = contents.map((content) => `${content.length.toString(16)}${end}${content}${line}`);
      const sent = Buffer.from(`${head}${chunks.join('')}0${end}${line}`);
      site.on('/whole', ({ socket }) => void socket.write(sent));
      site.on('/bytes', async ({ socket }) => {
        socket.setNoDelay();
        for (const byte of sent) {
          socket.write(Buffer.of(byte));
          await new Promise(setImmediate);
        }
      });
      for (const path of ['/whole', '/bytes', '/whole']) {
        expect(Buffer.from((await fetch(path)).body).toString()).toBe(contents.join(''));
        expect((await allOf(await fetcher.open({ url: site.url(path) }))).toString()).toBe(contents.join(''));
      }
      expect(site.connections).toBe(1);
    });

    test('the cap also applies to a body that only claims a transfer coding', async () => {
      const { fetch, site } = await setup();
      const body = 'x'.repeat(1_001);
      site.on('/long', ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n${body}`));
      await expect(fetch('/long', { maxBodyBytes: 1_000 })).rejects.toMatchObject({ reason: 'size' });
      expect((await fetch('/long', { maxBodyBytes: 1_001 })).body).toHaveLength(1_001);
    });

    test.each(['204 No Content', '304 Not Modified'])(
      'a connection is not reused after a %s that announces a body, which might arrive as the next answer',
      async (status) => {
        const { fetch, site } = await setup();
        site.on('/none', ({ socket }) => void socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 40\r\n\r\n`));
        await fetch('/page/1');
        await fetch('/none');
        await fetch('/page/2');
        expect(site.connections).toBe(2);
      },
    );

    test('headers after two thousand others are read', async () => {
      const { fetch, site } = await setup();
      site.on('/many', ({ socket }) => {
        const others = Array.from({ length: 2_000 }, (_, n) => `x-${n}: \r\n`).join('');
        const body = gzipSync('well');
        socket.write(`HTTP/1.1 200 OK\r\n${others}content-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`);
        socket.write(body);
      });
      expect(Buffer.from((await fetch('/many')).body).toString()).toBe('well');
    });

    test.each(['000', '099'])('an answer with status %s fails with `connection`', async (status) => {
      const { fetch, fetcher, site } = await setup();
      site.on('/odd', ({ socket }) => void socket.write(`HTTP/1.1 ${status} x\r\ncontent-length: 0\r\n\r\n`));
      await expect(fetch('/odd')).rejects.toMatchObject({ reason: 'connection', status: undefined });
      await expect(fetcher.open({ url: site.url('/odd') })).rejects.toMatchObject({ reason: 'connection' });
    });
  });
}
