import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import { expect, test } from 'vitest';
import type { TestSite } from '../../../../support/site.ts';
import { setup } from '../setup.ts';

test.each([
  '/gzip',
  '/deflate',
  '/raw-deflate',
  '/br',
  '/zstd',
  '/twice-gzip',
  '/coded-as?name=identity',
  '/coded-as?name=utf-8',
])('%s is read whole and in pieces', async (path) => {
  const { fetch, fetcher, site } = await setup();
  const { body } = await fetch('/page/1');
  expect((await fetch(path)).body).toEqual(body);
  expect(await allOf(await fetcher.open({ url: site.url(path), maxBodyBytes: 1_000_000 }))).toEqual(body);
});

test.each([
  ['gzip', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['br', zlib.brotliCompressSync],
  ['zstd', zlib.zstdCompressSync],
] as const)('a large body in %s is read whole and in pieces, up to the cap and no further', async (coding, encode) => {
  const { fetcher, site } = await setup();
  const plain = randomBytes(300_000);
  serve(site, '/large', encode(plain), coding);
  const url = site.url('/large');
  expect((await fetcher.fetch({ url, maxBodyBytes: 300_000 })).body).toEqual(plain);
  expect(await allOf(await fetcher.open({ url, maxBodyBytes: 300_000 }))).toEqual(plain);
  await expect(fetcher.fetch({ url, maxBodyBytes: 299_999 })).rejects.toMatchObject({ reason: 'size', status: 200 });
  const open = await fetcher.open({ url, maxBodyBytes: 299_999 });
  await expect(allOf(open)).rejects.toMatchObject({ reason: 'size', status: 200 });
});

test('an empty body is empty, whatever it says it is coded as', async () => {
  const { fetch, fetcher, site } = await setup();
  for (const coding of ['gzip', 'deflate', 'br', 'zstd']) {
    expect((await fetch(`/empty-${coding}`)).body).toHaveLength(0);
    const open = await fetcher.open({ url: site.url(`/empty-${coding}`), maxBodyBytes: 1_000 });
    expect(await allOf(open)).toHaveLength(0);
  }
});

test('a body as long as the cap is not over it', async () => {
  const { fetcher, site } = await setup();
  for (const path of ['/big?bytes=1000', '/big?bytes=1000&chunked']) {
    const page = await fetcher.fetch({ url: site.url(path), maxBodyBytes: 1_000 });
    expect(page.body).toHaveLength(1_000);
  }
});

test('gzip in several members, with zeros after them', async () => {
  const { fetch, site } = await setup();
  const file = Buffer.concat([zlib.gzipSync('one, '), zlib.gzipSync('two'), Buffer.alloc(64)]);
  serve(site, '/members', file, 'gzip');
  expect(Buffer.from((await fetch('/members')).body).toString()).toBe('one, two');
});

test.each(['gzip', 'deflate', 'br', 'zstd'])('a %s bomb does no harm', async (coding) => {
  const { fetch, fetcher, site } = await setup();
  await fetch(`/bomb?mb=1&coding=${coding}`);
  const path = `/bomb?mb=30&coding=${coding}`;
  // Made beforehand, since it is made in this process.
  await fetch(path).catch(() => {});
  const before = process.memoryUsage().rss;
  await expect(fetch(path)).rejects.toMatchObject({ reason: 'size', status: 200 });
  const open = await fetcher.open({ url: site.url(path), maxBodyBytes: 1_000_000 });
  await expect(allOf(open)).rejects.toMatchObject({ reason: 'size', status: 200 });
  expect(process.memoryUsage().rss - before).toBeLessThan(25_000_000);
});

test('pieces come before the body is complete', async () => {
  const { fetcher, site } = await setup();
  let finish = (): void => {};
  site.on('/news', (_, response) => {
    response.write('first');
    finish = () => response.end(', last');
  });
  const { body, status, headers } = await fetcher.open({ url: site.url('/news'), maxBodyBytes: 1_000 });
  expect({ status, headers }).toMatchObject({ status: 200, headers: { date: expect.any(String) } });
  const pieces: string[] = [];
  for await (const piece of body) {
    pieces.push(Buffer.from(piece).toString());
    finish();
  }
  expect(pieces).toEqual(['first', ', last']);
});

test.each(['/endless', '/bomb?mb=30', '/drip?ms=5', '/page/1'])('%s can be left in the middle', async (path) => {
  const { fetcher, site } = await setup();
  const open = await fetcher.open({ url: site.url(path), maxBodyBytes: 1e9 });
  for await (const piece of open.body) {
    expect(piece.length).toBeGreaterThan(0);
    break;
  }
  open.body.destroy();
});

test.each(['/endless', '/bomb?mb=30', '/hang-body', '/page/1'])('%s can be left before it is read', async (path) => {
  const { fetcher, site } = await setup();
  site.on('/hang-body', (_, response) => response.writeHead(200).flushHeaders());
  const { body } = await fetcher.open({ url: site.url(path), maxBodyBytes: 1e9 });
  body.destroy();
  body.destroy();
  await expect(allOf({ body })).rejects.toMatchObject({ reason: 'aborted' });
});

test('who waits for a piece learns that the body was destroyed', async () => {
  const { fetcher, site } = await setup();
  site.on('/hang-body', (_, response) => response.writeHead(200).flushHeaders());
  const { body } = await fetcher.open({ url: site.url('/hang-body'), maxBodyBytes: 1_000 });
  const reading = allOf({ body });
  body.destroy();
  await expect(reading).rejects.toMatchObject({ reason: 'aborted' });
});

test.each([
  ['/truncated', 'connection'],
  ['/reset-body', 'connection'],
  ['/bad-chunks', 'connection'],
  ['/bad-gzip', 'encoding'],
  ['/cut-gzip', 'encoding'],
  ['/drip?ms=5', 'timeout'],
  ['/endless', 'size'],
])('in pieces, %s ends with %s', async (path, reason) => {
  const { fetcher, site } = await setup({ timeoutMs: 500 });
  const open = await fetcher.open({ url: site.url(path), maxBodyBytes: 100_000 });
  await expect(allOf(open)).rejects.toMatchObject({ name: 'FetchError', reason, status: 200 });
});

test('a signal ends a body in pieces', async () => {
  const { fetcher, site } = await setup();
  const controller = new AbortController();
  const url = site.url('/drip?ms=5');
  const open = await fetcher.open({ url, maxBodyBytes: 1_000, signal: controller.signal });
  await expect(
    (async () => {
      for await (const _ of open.body) controller.abort();
    })(),
  ).rejects.toMatchObject({ reason: 'aborted' });
});

function serve(site: TestSite, path: string, body: Buffer, coding: string): void {
  site.on(path, (_, response) => {
    response.writeHead(200, { 'content-encoding': coding }).end(body);
  });
}

async function allOf({ body }: { body: AsyncIterable<Uint8Array> }): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}
