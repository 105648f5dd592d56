import { expect, onTestFinished, test } from 'vitest';
import { UndiciFetcher } from '../../../../../shared/fetchers/undici/fetcher.ts';
import { allowing } from '../../../../support/allowing.ts';
import { TestSite } from '../../../../support/site.ts';

// undici takes such a body for a complete one, as Node.js does.
test('a body without a length whose connection is reset is not complete', async () => {
  const site = new TestSite();
  await site.start();
  const fetcher = new UndiciFetcher({ timeoutMs: 5_000, userAgent: 'T/1', allowedPrivate: allowing('127.0.0.0/8') });
  onTestFinished(async () => {
    await fetcher.stop();
    await site.stop();
  });
  site.on('/reset', ({ socket }) => {
    socket.write('HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\nhalf', () => socket.resetAndDestroy());
  });
  const request = fetcher.fetch({ url: site.url('/reset'), maxBodyBytes: 1_000 });
  await expect(request).rejects.toMatchObject({ reason: 'connection', status: 200 });
});
