import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { FetchedPage } from '../../../shared/ports/fetcher.ts';
import { cacheKeyOf, MAX_CACHED_BYTES, type ResponseCache } from '../../../shared/ports/response-cache.ts';

/** A cache under test, on a clock that the test steps. */
export interface OpenedCache {
  readonly cache: ResponseCache;
  step(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** `maxBytes` is the limit per minute or at any one time, depending on the cache. */
export type OpenCache = (limits: { readonly ttlMs: number; readonly maxBytes: number }) => Promise<OpenedCache>;

export interface CacheGuarantees {
  /** Whether a full cache refuses new pages for a while, or drops the oldest. */
  readonly whenFull: 'left alone' | 'oldest goes';
}

const URL = 'http://a.test/page?q=1';

function page(body: Uint8Array | number = 1_000, extra: Partial<FetchedPage> = {}): FetchedPage {
  return {
    finalUrl: 'http://a.test/found',
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', etag: '"ä"' },
    body: typeof body === 'number' ? randomBytes(body) : body,
    durationMs: 12.5,
    ...extra,
  };
}

/** The contract of every response cache. */
export function describeResponseCache(name: string, open: OpenCache, { whenFull }: CacheGuarantees): void {
  describe(`response cache: ${name}`, () => {
    async function setup({ maxBytes = 256_000_000 } = {}): Promise<OpenedCache> {
      const opened = await open({ ttlMs: 60_000, maxBytes });
      onTestFinished(() => opened.close());
      return opened;
    }

    test('a cached page comes back unchanged, byte for byte', async () => {
      const { cache } = await setup();
      const kept = page(new Uint8Array([0, 10, 13, 255, 10, 0x7b, 0xc3, 0x28]));
      await cache.set(URL, kept);
      const found = await cache.get(URL);
      expect(found).toEqual({ ...kept, body: expect.anything() });
      expect([...(found?.body ?? [])]).toEqual([...kept.body]);
    });

    test('a page with an empty body is cached', async () => {
      const { cache } = await setup();
      await cache.set(URL, page(0));
      expect((await cache.get(URL))?.body.byteLength).toBe(0);
    });

    test('a URL that was never cached is a miss', async () => {
      const { cache } = await setup();
      await cache.set(URL, page());
      expect(await cache.get(`${URL}2`)).toBeUndefined();
    });

    test('a page is cached until its TTL of a minute is over', async () => {
      const { cache, step } = await setup();
      await cache.set(URL, page());
      await step(59_000);
      expect(await cache.get(URL)).toBeDefined();
      await step(1_000);
      expect(await cache.get(URL)).toBeUndefined();
    });

    test('a newer answer replaces the older one and starts a minute of its own', async () => {
      const { cache, step } = await setup();
      await cache.set(URL, page());
      await step(40_000);
      await cache.set(URL, page(10, { status: 203 }));
      await step(40_000);
      expect(await cache.get(URL)).toMatchObject({ status: 203 });
    });

    test('variants of a page by request headers are cached separately', async () => {
      const { cache } = await setup();
      const keys = [cacheKeyOf(URL), cacheKeyOf(URL, 'aaaa'), cacheKeyOf(URL, 'bbbb')];
      expect(keys).toEqual([URL, `${URL}#aaaa`, `${URL}#bbbb`]);
      await cache.set(keys[1] ?? '', page(10, { status: 201 }));
      expect((await Promise.all(keys.map((key) => cache.get(key)))).map((found) => found?.status)).toEqual([
        undefined,
        201,
        undefined,
      ]);
    });

    test.each([
      [MAX_CACHED_BYTES, true],
      [MAX_CACHED_BYTES + 1, false],
    ])('a body of %i bytes is cached: %s', async (bytes, isKept) => {
      const { cache } = await setup();
      await cache.set(URL, page(bytes));
      expect((await cache.get(URL)) !== undefined).toBe(isKept);
    });

    test('a body that is too large leaves the older answer cached', async () => {
      const { cache } = await setup();
      await cache.set(URL, page(10));
      await cache.set(URL, page(MAX_CACHED_BYTES + 1));
      expect((await cache.get(URL))?.body.byteLength).toBe(10);
    });

    if (whenFull === 'oldest goes') {
      test('a full cache drops its oldest pages and never holds more than its limit', async () => {
        const { cache } = await setup({ maxBytes: 10_000 });
        for (let n = 1; n <= 12; n++) await cache.set(`${URL}${n}`, page(1_000));
        const kept = [];
        for (let n = 1; n <= 12; n++) if ((await cache.get(`${URL}${n}`)) !== undefined) kept.push(n);
        expect(kept).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      });

      test('expired and replaced pages take no room', async () => {
        const { cache, step } = await setup({ maxBytes: 10_000 });
        for (let n = 1; n <= 20; n++) await cache.set(URL, page(5_000));
        await cache.set(`${URL}2`, page(5_000));
        expect([await cache.get(URL), await cache.get(`${URL}2`)]).not.toContain(undefined);
        await step(60_000);
        await cache.set(`${URL}3`, page(5_000));
        await cache.set(`${URL}4`, page(5_000));
        expect([await cache.get(`${URL}3`), await cache.get(`${URL}4`)]).not.toContain(undefined);
      });
    } else {
      test('a full cache silently refuses new pages until room has built up again', async () => {
        const { cache, step } = await setup({ maxBytes: 1_000_000 });
        const keys = Array.from({ length: 10 }, (_, n) => `${URL}${n}`);
        for (const key of keys) await cache.set(key, page(30_000));
        const kept = await Promise.all(keys.map(async (key) => (await cache.get(key)) !== undefined));
        expect(kept, 'five seconds of a minute at once').toEqual([true, true, ...Array(8).fill(false)]);
        await step(2_000);
        await cache.set(`${URL} later`, page(30_000));
        expect(await cache.get(`${URL} later`), 'room gathers').toBeDefined();
      });

      test('no minute takes in more than the limit, and every minute nearly all of it', async () => {
        const { cache, step } = await setup({ maxBytes: 1_000_000 });
        const sizes: number[] = [];
        for (let second = 0; second < 180; second++) {
          let bytes = 0;
          for (let n = 0; n < 5; n++) {
            const key = `${URL}${second}.${n}`;
            await cache.set(key, page(8_000));
            if ((await cache.get(key)) !== undefined) bytes += 8_000;
          }
          sizes.push(bytes);
          await step(1_000);
        }
        const minutes = sizes.slice(60).map((_, from) => sizes.slice(from, from + 60).reduce((a, b) => a + b, 0));
        expect(Math.max(...minutes)).toBeLessThanOrEqual(1_000_000);
        expect(Math.min(...minutes)).toBeGreaterThan(850_000);
      });
    }
  });
}
