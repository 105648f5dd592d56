import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import type { Resolve } from '../../../../shared/fetchers/address-guard.ts';
import { allowing } from '../../../support/allowing.ts';
import type { Setup } from './setup.ts';

const address = (text: string): LookupAddress => ({ address: text, family: text.includes(':') ? 6 : 4 });

/** A resolver that gives one answer after another, then repeats the last. Records the names asked for. */
function resolver(...answers: string[][]): { resolve: Resolve; asked: string[] } {
  const asked: string[] = [];
  const resolve: Resolve = async (host) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(host);
    return answer.map(address);
  };
  return { resolve, asked };
}

const nothing = allowing();

/** The address guard: which addresses are refused, and when a name is checked. */
export function describeAddresses(setup: Setup): void {
  describe('addresses', () => {
    test.each([
      'http://127.0.0.1/',
      'http://[::1]/',
      'http://[::ffff:7f00:1]/',
      'http://0x7f.1/',
      'http://2130706433/',
      'http://localhost/',
      'http://LOCALHOST/',
      'https://127.0.0.1/',
      'https://localhost/',
      'http://169.254.169.254/latest/meta-data/',
      'http://user:pass@10.0.0.1/',
    ])('%s is refused as a private address', async (url) => {
      const { fetcher } = await setup({ allowedPrivate: nothing });
      await expect(fetcher.fetch({ url, maxBodyBytes: 1_000 })).rejects.toMatchObject({ reason: 'private_address' });
    });

    test('a private address is refused before any connection, and the message says how to allow it', async () => {
      const { fetcher, site } = await setup({ allowedPrivate: nothing });
      const request = fetcher.fetch({ url: site.url('/page/1'), maxBodyBytes: 1_000 });
      await expect(request).rejects.toMatchObject({
        message: '127.0.0.1 is a private address (--private-hosts 127.0.0.1 allows it)',
      });
      const named = fetcher.fetch({ url: `http://localhost:${site.port}/`, maxBodyBytes: 1_000 });
      await expect(named).rejects.toThrow(
        /^localhost has the private address (127\.0\.0\.1|::1) \(--private-hosts localhost allows it\)$/,
      );
      expect(site.connections).toBe(0);
    });

    test('a host allowed by its name is still refused by its address', async () => {
      const { resolve } = resolver(['127.0.0.1']);
      const { fetch, fetcher, site } = await setup({ allowedPrivate: allowing('site.test'), resolve });
      const page = await fetcher.fetch({ url: `http://site.test:${site.port}/page/1`, maxBodyBytes: 10_000 });
      expect(page.status).toBe(200);
      await expect(fetch('/page/1')).rejects.toMatchObject({ reason: 'private_address' });
    });

    test('a name with one denied address among several is refused', async () => {
      const { resolve } = resolver(['127.0.0.1', '10.0.0.1']);
      const { fetcher, site } = await setup({ allowedPrivate: allowing('127.0.0.1'), resolve });
      const request = fetcher.fetch({ url: `http://site.test:${site.port}/`, maxBodyBytes: 1_000 });
      await expect(request).rejects.toMatchObject({
        reason: 'private_address',
        cause: { address: '10.0.0.1', host: 'site.test' },
      });
      expect(site.connections).toBe(0);
    });

    test('`prepare` looks a host up in advance, makes no connection and leaves failures to the request', async () => {
      const { resolve, asked } = resolver(['127.0.0.1'], ['10.0.0.1']);
      const { fetcher, site } = await setup({ allowedPrivate: allowing('127.0.0.1'), resolve });
      const { signal } = new AbortController();
      await fetcher.prepare(`http://site.test:${site.port}/`, signal);
      expect(asked).toEqual(['site.test']);
      await fetcher.prepare('http://private.test/', signal);
      for (const url of [site.url('/'), 'http://[::1]/', 'no url']) await fetcher.prepare(url, signal);
      expect({ asked, connections: site.connections }).toEqual({
        asked: ['site.test', 'private.test'],
        connections: 0,
      });
    });

    test('`prepare` ends with the signal or the time-out, although the look-up never does', async () => {
      const never = { resolve: () => new Promise<never>(() => {}) };
      const { fetcher } = await setup({ ...never, timeoutMs: 50 });
      await fetcher.prepare('http://site.test/', new AbortController().signal);
      const patient = await setup(never);
      const controller = new AbortController();
      const prepared = patient.fetcher.prepare('http://site.test/', controller.signal);
      controller.abort();
      await prepared;
    });

    test('a name is looked up and checked once per connection, so a changed address is refused at the next one', async () => {
      const { resolve, asked } = resolver(['127.0.0.1'], ['127.0.0.2']);
      const { fetcher, site } = await setup({ allowedPrivate: allowing('127.0.0.1'), resolve });
      const request = { url: `http://site.test:${site.port}/page/1`, maxBodyBytes: 10_000 };
      expect(await fetcher.fetch(request)).toMatchObject({ status: 200 });
      expect(await fetcher.fetch(request)).toMatchObject({ status: 200 });
      expect({ asked: asked.length, connections: site.connections }).toEqual({ asked: 1, connections: 1 });
      // While that connection is busy, a second one is needed, and the name has another address by now.
      const signal = new AbortController();
      const busy = fetcher.fetch({ ...request, url: `http://site.test:${site.port}/hang`, signal: signal.signal });
      await site.arrival('/hang');
      await expect(fetcher.fetch(request)).rejects.toMatchObject({ reason: 'private_address' });
      expect({ asked: asked.length, connections: site.connections }).toEqual({ asked: 2, connections: 1 });
      signal.abort();
      await expect(busy).rejects.toMatchObject({ reason: 'aborted' });
    });

    test('the next address of a name is tried when the first does not answer', async () => {
      const { resolve } = resolver(['127.0.0.2', '127.0.0.1']);
      const { fetcher, site } = await setup({ resolve });
      const page = await fetcher.fetch({ url: `http://site.test:${site.port}/page/1`, maxBodyBytes: 10_000 });
      expect(page.status).toBe(200);
    });
  });
}
