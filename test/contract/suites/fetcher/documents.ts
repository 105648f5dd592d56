import { describe, expect, test } from 'vitest';
import type { TestSite } from '../../../support/site.ts';
import { allOf, type Setup } from './setup.ts';

/** Documents: when their pieces arrive, and how reading them ends. */
export function describeDocuments(setup: Setup): void {
  describe('documents', () => {
    test('pieces of a document arrive before its body is complete', async () => {
      const { fetcher, site } = await setup();
      let finish = (): void => {};
      site.on('/news', (_, response) => {
        response.write('first');
        finish = () => response.end(', last');
      });
      const { body, status, headers } = await fetcher.open({ url: site.url('/news') });
      expect({ status, headers }).toMatchObject({ status: 200, headers: { date: expect.any(String) } });
      const pieces: string[] = [];
      for await (const piece of body) {
        pieces.push(Buffer.from(piece).toString());
        finish();
      }
      expect(pieces).toEqual(['first', ', last']);
    });

    test.each(['/endless', '/bomb?mb=30', '/drip?ms=5', '/page/1'])(
      'reading %s can be abandoned halfway',
      async (path) => {
        const { fetcher, site } = await setup();
        const { body } = await fetcher.open({ url: site.url(path) });
        for await (const piece of body) {
          expect(piece.length).toBeGreaterThan(0);
          break;
        }
        body.destroy();
      },
    );

    test.each(['/endless', '/bomb?mb=30', '/hang-body', '/page/1'])(
      '%s can be destroyed before it is read',
      async (path) => {
        const { fetcher, site } = await setup();
        hangAfterHeaders(site);
        const { body } = await fetcher.open({ url: site.url(path) });
        body.destroy();
        body.destroy();
        await expect(allOf({ body })).rejects.toMatchObject({ reason: 'aborted' });
      },
    );

    test('a reader waiting for a piece fails with `aborted` when the body is destroyed', async () => {
      const { fetcher, site } = await setup();
      hangAfterHeaders(site);
      const { body } = await fetcher.open({ url: site.url('/hang-body') });
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
    ])('reading %s fails with reason %s', async (path, reason) => {
      const { fetcher, site } = await setup({ timeoutMs: 500 });
      const document = await fetcher.open({ url: site.url(path) });
      await expect(allOf(document)).rejects.toMatchObject({ name: 'FetchError', reason, status: 200 });
    });

    test('a document can have a shorter or longer time-out than the fetcher', async () => {
      const { fetcher, site } = await setup({ timeoutMs: 300 });
      const url = site.url('/drip?ms=5&bytes=100');
      expect(await allOf(await fetcher.open({ url, timeoutMs: 5_000 }))).toHaveLength(100);
      const short = fetcher.open({ url: site.url('/drip?ms=5'), timeoutMs: 100 });
      await expect(short.then(allOf)).rejects.toMatchObject({ reason: 'timeout' });
      // A longer time-out applies to the body. The wait for the answer itself is no longer than usual.
      await expect(fetcher.open({ url: site.url('/hang'), timeoutMs: 60_000 })).rejects.toMatchObject({
        reason: 'timeout',
      });
    });

    test('a signal aborts a document while it is read', async () => {
      const { fetcher, site } = await setup();
      const controller = new AbortController();
      const { body } = await fetcher.open({ url: site.url('/drip?ms=5'), signal: controller.signal });
      const reading = (async () => {
        for await (const _ of body) controller.abort();
      })();
      await expect(reading).rejects.toMatchObject({ reason: 'aborted' });
    });
  });
}

function hangAfterHeaders(site: TestSite): void {
  site.on('/hang-body', (_, response) => response.writeHead(200).flushHeaders());
}
