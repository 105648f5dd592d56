import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { allOf, type Setup, serve } from './setup.ts';

/** Bodies: their codings and their maximum length. */
export function describeBodies(setup: Setup): void {
  describe('bodies', () => {
    test.each([
      '/gzip',
      '/deflate',
      '/raw-deflate',
      '/br',
      '/zstd',
      '/twice-gzip',
      '/coded-as?name=identity',
      '/coded-as?name=utf-8',
    ])('the body of %s is decoded as a page and as a document', async (path) => {
      const { fetch, fetcher, site } = await setup();
      const { body } = await fetch('/page/1');
      expect((await fetch(path)).body).toEqual(body);
      expect(await allOf(await fetcher.open({ url: site.url(path) }))).toEqual(body);
    });

    test.each([
      ['gzip', zlib.gzipSync],
      ['deflate', zlib.deflateSync],
      ['br', zlib.brotliCompressSync],
      ['zstd', zlib.zstdCompressSync],
    ] as const)('a large page in %s is read only up to its cap, a document to its end', async (coding, encode) => {
      const { fetch, fetcher, site } = await setup();
      const plain = randomBytes(300_000);
      serve(site, '/large', encode(plain), coding);
      expect((await fetch('/large', { maxBodyBytes: 300_000 })).body).toEqual(plain);
      await expect(fetch('/large', { maxBodyBytes: 299_999 })).rejects.toMatchObject({ reason: 'size', status: 200 });
      expect(await allOf(await fetcher.open({ url: site.url('/large') }))).toEqual(plain);
    });

    test('a short page over its cap is refused even if all of it comes at once, without its length', async () => {
      const { fetch, site } = await setup();
      site.on('/chunks', ({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7d0\r\n${'x'.repeat(2_000)}\r\n0\r\n\r\n`);
      });
      expect((await fetch('/chunks', { maxBodyBytes: 2_000 })).body).toHaveLength(2_000);
      await expect(fetch('/chunks', { maxBodyBytes: 1_999 })).rejects.toMatchObject({ reason: 'size', status: 200 });
    });

    test('an empty body is empty, whatever its stated coding', async () => {
      const { fetch, fetcher, site } = await setup();
      for (const coding of ['gzip', 'deflate', 'br', 'zstd']) {
        expect((await fetch(`/empty-${coding}`)).body).toHaveLength(0);
        expect(await allOf(await fetcher.open({ url: site.url(`/empty-${coding}`) }))).toHaveLength(0);
      }
    });

    test('a body exactly as long as the cap is accepted', async () => {
      const { fetch } = await setup();
      for (const path of ['/big?bytes=1000', '/big?bytes=1000&chunked']) {
        expect((await fetch(path, { maxBodyBytes: 1_000 })).body).toHaveLength(1_000);
      }
    });

    test('a body without a length ends when its connection closes', async () => {
      const { fetch, fetcher, site } = await setup();
      site.on('/old', ({ socket }) => void socket.end('HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\nwell'));
      expect(Buffer.from((await fetch('/old')).body).toString()).toBe('well');
      expect((await allOf(await fetcher.open({ url: site.url('/old') }))).toString()).toBe('well');
    });

    test('gzip with several members and zeros after them is decoded', async () => {
      const { fetch, site } = await setup();
      const file = Buffer.concat([zlib.gzipSync('one, '), zlib.gzipSync('two'), Buffer.alloc(64)]);
      serve(site, '/members', file, 'gzip');
      expect(Buffer.from((await fetch('/members')).body).toString()).toBe('one, two');
    });

    test.each([
      ['a comment', '<!-- cached -->'],
      ['a line break', '\r\n'],
      ['the start of another member', '\x1f\x8b'],
    ])('%s after a gzip body is ignored, for pages and documents, large or small', async (_, rest) => {
      const { fetch, fetcher, site } = await setup();
      const large = randomBytes(100_000);
      for (const members of [[Buffer.from('well')], [large], [Buffer.from('one, '), large]]) {
        const coded = members.map((member) => zlib.gzipSync(member));
        serve(site, '/rest', Buffer.concat([...coded, Buffer.from(rest, 'latin1')]), 'gzip');
        expect((await fetch('/rest')).body).toEqual(Buffer.concat(members));
        expect(await allOf(await fetcher.open({ url: site.url('/rest') }))).toEqual(Buffer.concat(members));
      }
    });

    test('a gzip page with a truncated second member or damaged content fails with `encoding`', async () => {
      const { fetch, site } = await setup();
      const coded = zlib.gzipSync('well');
      const damaged = Buffer.from(coded).fill(0, coded.length - 8, coded.length - 4);
      for (const body of [
        Buffer.concat([coded, coded.subarray(0, 12)]),
        Buffer.concat([damaged, Buffer.from('rest')]),
      ]) {
        serve(site, '/cut', body, 'gzip');
        await expect(fetch('/cut')).rejects.toMatchObject({ reason: 'encoding', status: 200 });
      }
    });

    test('a truncated gzip document fails with `encoding`, however much of it has been read', async () => {
      const { fetcher, site } = await setup();
      const coded = zlib.gzipSync(randomBytes(100_000));
      for (const body of [coded.subarray(0, -20), Buffer.concat([coded, coded.subarray(0, 50_000)])]) {
        serve(site, '/cut', body, 'gzip');
        const document = await fetcher.open({ url: site.url('/cut') });
        await expect(allOf(document)).rejects.toMatchObject({ reason: 'encoding', status: 200 });
      }
    });

    test('zstd with several frames, one of them without content, is decoded', async () => {
      const { fetch, fetcher, site } = await setup();
      const frames = ['one, ', 'two'].map((content) => zlib.zstdCompressSync(content));
      const empty = Buffer.from('502a4d1803000000616263', 'hex');
      serve(site, '/frames', Buffer.concat([empty, ...frames]), 'zstd');
      expect(Buffer.from((await fetch('/frames')).body).toString()).toBe('one, two');
      expect((await allOf(await fetcher.open({ url: site.url('/frames') }))).toString()).toBe('one, two');
      const large = randomBytes(100_000);
      serve(site, '/large-frames', Buffer.concat([large, large].map((each) => zlib.zstdCompressSync(each))), 'zstd');
      expect((await fetch('/large-frames')).body).toEqual(Buffer.concat([large, large]));
    });

    test.each(['gzip', 'deflate', 'br', 'zstd'])(
      'a %s bomb fails with `size` and uses little memory',
      async (coding) => {
        const { fetch, fetcher, site } = await setup();
        await fetch(`/bomb?mb=1&coding=${coding}`);
        const path = `/bomb?mb=30&coding=${coding}`;
        // The site builds the bomb in this process, so it is built before memory is measured.
        await fetch(path).catch(() => {});
        const before = process.memoryUsage().rss;
        await expect(fetch(path)).rejects.toMatchObject({ reason: 'size', status: 200 });
        let read = 0;
        for await (const piece of (await fetcher.open({ url: site.url(path) })).body) {
          read += piece.length;
          if (read > 1_000_000) break;
        }
        expect(process.memoryUsage().rss - before).toBeLessThan(25_000_000);
      },
    );
  });
}
