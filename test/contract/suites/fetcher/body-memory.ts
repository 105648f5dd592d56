import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BodyMemory } from '../../../../shared/fetchers/body-memory.ts';
import { PageHold, RequestTimings } from '../../../../shared/ports/fetcher.ts';
import type { TestSite } from '../../../support/site.ts';
import type { Setup } from './setup.ts';

/** More than the sockets of both ends can buffer. */
const HUGE_BYTES = 30_000_000;

/** The memory for bodies: which requests wait for it, and that all of it is returned. */
export function describeBodyMemory(setup: Setup): void {
  describe('memory for bodies', () => {
    test('without memory a body is not read further and its time-out stops; with memory again it arrives whole', async () => {
      const bodyMemory = new BodyMemory(300_000);
      const { fetch, fetcher, site } = await setup({ bodyMemory, timeoutMs: 1_000 });
      const [held, hold, timings] = [new PageHold(), new PageHold(), new RequestTimings()];
      await fetch('/big?bytes=250000', { hold: held });
      expect(bodyMemory.usedBytes).toBe(250_000);
      const huge = serveHuge(site);
      const request = fetch('/huge', { maxBodyBytes: HUGE_BYTES, hold, timings });
      await site.arrival('/huge');
      await sleep(1_500);
      expect(fetcher.waitingForMemory).toBe(1);
      expect(huge.written).toBeLessThan(HUGE_BYTES);
      held.end();
      const page = await request;
      expect(page.body).toHaveLength(HUGE_BYTES);
      expect(timings.waitedMs).toBeGreaterThan(1_000);
      expect(page.durationMs, 'the wait is not in it').toBeLessThan(1_000);
      expect(bodyMemory.usedBytes).toBe(HUGE_BYTES);
      hold.end();
      expect([bodyMemory.usedBytes, fetcher.waitingForMemory]).toEqual([0, 0]);
    });

    test('a body that waits halfway resumes where it stopped', async () => {
      const bodyMemory = new BodyMemory(400_000);
      const { fetch, fetcher, site } = await setup({ bodyMemory, timeoutMs: 400 });
      const held = new PageHold();
      await fetch('/big?bytes=100000', { hold: held });
      const content = Buffer.from(Array.from({ length: 500_000 }, (_, n) => n % 251));
      site.on('/grows', (_, response) => {
        // Without a length, the body starts within its first reservation.
        response.write(content.subarray(0, 200_000), () => response.end(content.subarray(200_000)));
      });
      const request = fetch('/grows');
      while (fetcher.waitingForMemory === 0) await sleep(5);
      await sleep(600);
      held.end();
      expect(Buffer.from((await request).body).equals(content)).toBe(true);
      expect(bodyMemory.usedBytes).toBe(0);
    });

    test.each(['', '&chunked'])(
      'the oldest body resumes first, so that bodies each larger than the whole memory all complete%s',
      async (chunked) => {
        const bodyMemory = new BodyMemory(100_000);
        const { fetch } = await setup({ bodyMemory });
        const pages = await Promise.all(Array.from({ length: 8 }, () => fetch(`/big?bytes=700000${chunked}`)));
        expect(pages.map(({ body }) => body.length)).toEqual(Array.from({ length: 8 }, () => 700_000));
        expect([bodyMemory.usedBytes, bodyMemory.waiting]).toEqual([0, 0]);
      },
    );

    test('decoded bytes count too, and wait for memory without running into the time-out', async () => {
      const bodyMemory = new BodyMemory(400_000);
      const { fetch, fetcher, site } = await setup({ bodyMemory, timeoutMs: 400 });
      const coded = gzipSync(Buffer.alloc(900_000, 'x'));
      site.on('/coded', (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': coded.length }).end(coded);
      });
      const [held, hold] = [new PageHold(), new PageHold()];
      await fetch('/coded', { hold: held });
      expect(bodyMemory.usedBytes).toBe(900_000);
      held.end();
      await fetch('/big?bytes=300000', { hold: held });
      const request = fetch('/coded', { hold });
      while (fetcher.waitingForMemory === 0) await sleep(5);
      const stop = new AbortController();
      const other = fetch('/coded', { signal: stop.signal }).catch((error: unknown) => error);
      while (fetcher.waitingForMemory === 1) await sleep(5);
      await sleep(600);
      stop.abort();
      expect(await other, 'a signal ends the wait').toMatchObject({ reason: 'aborted' });
      held.end();
      expect((await request).body).toHaveLength(900_000);
      hold.end();
      expect(bodyMemory.usedBytes).toBe(0);
    });

    // biome-ignore format: a table
    test.each([
  ['/page/1',               undefined],
  ['/gzip',                 undefined],
  ['/status/404',           undefined],
  ['/truncated',            'connection'],
  ['/truncated-chunks',     'connection'],
  ['/reset-body',           'connection'],
  ['/bad-gzip',             'encoding'],
  ['/cut-br',               'encoding'],
  ['/big?bytes=1000001',    'size'],
  ['/endless',              'size'],
  ['/bomb?mb=2',            'size'],
  ['/drip?ms=5',            'timeout'],
  ['/hang',                 'timeout'],
])('all memory is returned after %s (%s)', async (path, reason) => {
  const bodyMemory = new BodyMemory(300_000);
  const { fetch } = await setup({ bodyMemory, timeoutMs: 300 });
  const told = await fetch(path).catch((error: unknown) => error);
  expect(told).toMatchObject(reason === undefined ? { headers: {} } : { reason });
  expect([bodyMemory.usedBytes, bodyMemory.waiting]).toEqual([0, 0]);
});

    test('all memory is returned when requests are aborted, including those that wait', async () => {
      const bodyMemory = new BodyMemory(300_000);
      const { fetch, fetcher } = await setup({ bodyMemory });
      const stop = new AbortController();
      const ask = (path: string) => fetch(path, { signal: stop.signal }).catch((error: unknown) => error);
      const first = ask('/drip?ms=5');
      while (bodyMemory.usedBytes === 0) await sleep(5);
      const requests = [first, ask('/big?bytes=800000'), ask('/big?bytes=900000')];
      while (fetcher.waitingForMemory < 2) await sleep(5);
      stop.abort();
      for (const ended of await Promise.all(requests)) expect(ended).toMatchObject({ reason: 'aborted' });
      expect([bodyMemory.usedBytes, bodyMemory.waiting]).toEqual([0, 0]);
    });

    test('all memory is returned after 1,000 bodies of all kinds', async () => {
      const bodyMemory = new BodyMemory(1_000_000);
      const { fetch, fetcher } = await setup({ bodyMemory, timeoutMs: 1_000 });
      const paths = [
        ...['/page/1', '/gzip', '/zstd', '/status/500', '/big?bytes=300000', '/big?bytes=400000&chunked'],
        ...['/truncated', '/reset-body', '/bad-gzip', '/endless', '/bomb?mb=2', '/big?bytes=1000001'],
      ];
      let next = 0;
      const work = async (): Promise<void> => {
        for (let n = next++; n < 1_000; n = next++) {
          const hold = new PageHold();
          const stop = new AbortController();
          const request = fetch(paths[n % paths.length] ?? '', { hold, signal: stop.signal }).catch(() => {});
          if (n % 7 === 0) setTimeout(() => stop.abort(), n % 20);
          await request;
          if (n % 3 === 0) await sleep(1);
          hold.end();
        }
      };
      await Promise.all(Array.from({ length: 50 }, work));
      expect([bodyMemory.usedBytes, fetcher.waitingForMemory]).toEqual([0, 0]);
    }, 30_000);
  });
}

/** Serves `/huge` as fast as it is read. */
function serveHuge(site: TestSite): { readonly written: number } {
  const told = { written: 0 };
  const chunk = Buffer.alloc(100_000, 'x');
  site.on('/huge', async (_, response) => {
    response.writeHead(200, { 'content-length': HUGE_BYTES });
    while (told.written < HUGE_BYTES) {
      told.written += chunk.length;
      if (!response.write(chunk)) await once(response, 'drain');
    }
    response.end();
  });
  return told;
}
