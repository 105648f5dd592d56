import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { IdleConnections } from '../../../../shared/fetchers/idle-connections.ts';
import { TestSite } from '../../../support/site.ts';
import type { Setup } from './setup.ts';

/** How connections are used, reused and closed. */
export function describeConnections(setup: Setup): void {
  describe('connections', () => {
    test('a failed request on a new connection is not repeated, nor is a 503', async () => {
      const { fetch, site } = await setup();
      await expect(fetch('/reset')).rejects.toMatchObject({ reason: 'connection' });
      await fetch('/status/503');
      expect(site.requests.map(({ path }) => path)).toEqual(['/reset', '/status/503']);
    });

    test('a request lost by a kept connection before its answer began is repeated once on another connection', async () => {
      const { fetch, site } = await setup();
      const used = new Set<unknown>();
      site.on('/idle-too-long', ({ socket }, response) => {
        if (used.has(socket)) socket.resetAndDestroy();
        else response.end('well');
        used.add(socket);
      });
      await fetch('/idle-too-long');
      expect(await fetch('/idle-too-long')).toMatchObject({ status: 200 });
      expect([site.requests.length, site.connections]).toEqual([3, 2]);
      await expect(fetch('/reset')).rejects.toMatchObject({ reason: 'connection' });
      expect(site.requests.map(({ path }) => path).slice(3)).toEqual(['/reset', '/reset']);
    });

    test('a connection is reused after any kind of answer that was read to its end', async () => {
      const { fetch, fetcher, site } = await setup();
      for (const path of ['/page/1', '/gzip', '/br', '/status/404', '/big?bytes=900000&chunked', '/page/2']) {
        await fetch(path);
      }
      const { body } = await fetcher.open({ url: site.url('/page/1') });
      for await (const piece of body) expect(piece.length).toBeGreaterThan(0);
      await fetch('/page/3');
      expect(site.connections).toBe(1);
    });

    test('a connection reset after its answer was read to the end is not an error', async () => {
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

    test('no more connections are opened than there are simultaneous requests', async () => {
      const { fetch, site } = await setup();
      for (let round = 0; round < 10; round++) {
        await Promise.all(Array.from({ length: 8 }, (_, n) => fetch(`/page/${n + 1}`)));
      }
      expect(site.requests).toHaveLength(80);
      expect(site.connections).toBe(8);
    });

    test('when there are too many idle connections, the one idle for longest is closed', async () => {
      const { fetch, fetcher, site } = await setup({ idleConnections: new IdleConnections(2) });
      const [second, third] = [new TestSite(), new TestSite()];
      for (const other of [second, third]) {
        await other.start();
        onTestFinished(() => other.stop());
      }
      const get = (other: TestSite) => fetcher.fetch({ url: other.url('/page/1'), maxBodyBytes: 1_000_000 });
      await fetch('/page/1');
      await get(second);
      await fetch('/page/2');
      await get(third);
      await second.disconnection();
      await fetch('/page/3');
      await get(second);
      expect([site, second, third].map(({ connections }) => connections)).toEqual([1, 2, 1]);
    });

    test('no connection is kept after `stop`, even if a request was under way', async () => {
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
  });
}
