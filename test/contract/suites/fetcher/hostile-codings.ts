import zlib from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { FetchError } from '../../../../shared/ports/fetcher.ts';
import { emptyBlocks, gzipOf, storedBlock } from '../../../support/hostile/deflate-blocks.ts';
import { type Setup, serve } from './setup.ts';

/** 8 MB of gzip data without content. */
const EMPTY = gzipOf(Array(8).fill(emptyBlocks(90_000)), new Uint8Array());
/** 20 MB of gzip data that decode to 10 MB and take a decoder a second. */
const SLOW = slow(10_000);

/** Coded bodies designed to cost time or memory. */
export function describeHostileCodings(setup: Setup): void {
  describe('hostile codings', () => {
    test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'constructor, __proto__'])(
      'a coding named %s is ignored',
      async (name) => {
        const { fetch } = await setup();
        const { body } = await fetch('/page/1');
        expect((await fetch(`/coded-as?name=${encodeURIComponent(name)}`)).body).toEqual(body);
      },
    );

    describe.each([
      ['gzip, br', zlib.brotliCompressSync(EMPTY)],
      ['gzip, gzip', zlib.gzipSync(EMPTY)],
      ['gzip, zstd', zlib.zstdCompressSync(EMPTY)],
      ['gzip', EMPTY],
    ] as const)('%s over empty blocks', (coding, body) => {
      test('fails early because the data have almost no content', async () => {
        const { site, fetcher } = await setup({ timeoutMs: 30_000 });
        serve(site, '/empty', body, coding);
        const url = site.url('/empty');
        const wanted = { reason: 'encoding', status: 200, message: expect.stringMatching(/have almost no content/) };
        const spent = await cpuMs(async () => {
          await expect(fetcher.fetch({ url, maxBodyBytes: 100_000_000 })).rejects.toMatchObject(wanted);
          const { body: pieces } = await fetcher.open({ url });
          await expect(Array.fromAsync(pieces)).rejects.toMatchObject(wanted);
        });
        const whole = await cpuMs(async () => void zlib.gunzipSync(EMPTY));
        // Decoding just one of them to its end would cost as much.
        expect(spent).toBeLessThan(whole);
      });
    });

    test('data flushed after every byte are read', async () => {
      const { site, fetch } = await setup();
      const content = Buffer.alloc(20_000, 'x');
      const flushed = Array.from(content, (byte) => storedBlock(Buffer.of(byte)));
      serve(site, '/flushed', gzipOf(flushed, content), 'gzip');
      expect(Buffer.from((await fetch('/flushed')).body).equals(content)).toBe(true);
    });

    describe('slow decoding', () => {
      test.each(['gzip, br', 'gzip'])('in %s ends with the time-out of its request', async (coding) => {
        const { site, fetcher } = await setup({ timeoutMs: 100 });
        serve(site, '/slow', coding === 'gzip' ? SLOW : zlib.brotliCompressSync(SLOW), coding);
        const url = site.url('/slow');
        expect(await endOf(fetcher.fetch({ url, maxBodyBytes: 100_000_000 }))).toBe('timeout');
        expect(await endOf(fetcher.open({ url }).then(({ body }) => Array.fromAsync(body)))).toBe('timeout');
      });

      test('ends when the caller aborts, although the whole body has arrived', async () => {
        const { site, fetcher } = await setup({ timeoutMs: 30_000 });
        const { promise: isSent, resolve: sent } = Promise.withResolvers<void>();
        site.on('/slow', (_, response) => {
          response.writeHead(200, { 'content-encoding': 'gzip, br' }).end(zlib.brotliCompressSync(SLOW), sent);
        });
        const stop = new AbortController();
        const url = site.url('/slow');
        const reading = fetcher.fetch({ url, maxBodyBytes: 100_000_000, signal: stop.signal });
        void isSent.then(() => setTimeout(() => stop.abort(), 50));
        expect(await endOf(reading)).toBe('aborted');
      });

      test('of a document does not count the time its reader takes', async () => {
        const { site, fetcher } = await setup();
        serve(site, '/zeros', zlib.gzipSync(Buffer.alloc(1_000_000)), 'gzip');
        const { body } = await fetcher.open({ url: site.url('/zeros'), timeoutMs: 1_000 });
        let length = 0;
        let isFirst = true;
        for await (const piece of body) {
          length += piece.length;
          if (isFirst) await new Promise((resolve) => setTimeout(resolve, 1_100));
          isFirst = false;
        }
        expect(length).toBe(1_000_000);
      });
    });

    test('a small body that decodes to a large one within the cap is read', async () => {
      const { site, fetcher } = await setup();
      for (const [coding, encode] of [
        ['br', zlib.brotliCompressSync],
        ['zstd', zlib.zstdCompressSync],
      ] as const) {
        serve(site, '/large', encode(Buffer.alloc(20_000_000)), coding);
        const url = site.url('/large');
        expect((await fetcher.fetch({ url, maxBodyBytes: 20_000_000 })).body).toHaveLength(20_000_000);
        expect(await endOf(fetcher.fetch({ url, maxBodyBytes: 19_999_999 }))).toBe('size');
      }
    });
  });
}

/** Builds gzip data of this many kilobytes, each preceded by empty blocks of its own length. */
function slow(kilobytes: number): Buffer {
  const content = Buffer.alloc(1_024, 'x');
  const one = Buffer.concat([emptyBlocks(88), storedBlock(content)]);
  return gzipOf(Array(kilobytes).fill(one), Buffer.alloc(1_024 * kilobytes, 'x'));
}

/** Returns why reading a body failed, or `read`, but not the body: it would be too much to print. */
async function endOf(reading: Promise<unknown>): Promise<string> {
  return reading.then(
    () => 'read',
    (error: unknown) => (error instanceof FetchError ? error.reason : String(error)),
  );
}

async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
