import { describe, expect, test } from 'vitest';
import type { Resolve } from '../../../../shared/fetchers/address-guard.ts';
import { allowing } from '../../../support/allowing.ts';
import type { ThroughProxies } from './proxy-setup.ts';
import { startHttpProxy, startSite, startSocksProxy } from './proxy-setup.ts';

const at = (address: string) => [{ address, family: 4 }];

/** The address guard in front of proxies. */
export function describeProxyGuard(openFetcher: ThroughProxies): void {
  describe('addresses', () => {
    test.each([
      'http://127.0.0.1/',
      'https://127.0.0.1/',
      'http://[::1]/',
      'https://[::ffff:7f00:1]/',
      'http://2130706433/',
      'http://localhost/',
      'https://localhost/',
      'http://169.254.169.254/latest/meta-data/',
      'http://user:pass@10.0.0.1/',
    ])('%s is refused without asking a proxy, although the proxies themselves have private addresses', async (url) => {
      const proxies = [await startHttpProxy(), await startSocksProxy()];
      const { fetch, rests } = openFetcher(proxies, { allowedPrivate: allowing() });
      for (let n = 0; n < 2; n++) await expect(fetch(url)).rejects.toMatchObject({ reason: 'private_address' });
      expect([proxies.map(({ connections }) => connections), rests]).toEqual([[0, 0], []]);
    });

    test('a SOCKS proxy gets the address that was checked, an HTTP proxy gets the name', async () => {
      const site = await startSite();
      const [socks, http] = [await startSocksProxy(), await startHttpProxy()];
      const { fetch } = openFetcher([socks, http], { resolve: async () => at('127.0.0.1') });
      const url = `http://localhost:${site.port}/page/1`;
      for (let n = 0; n < 2; n++) expect(await fetch(url)).toMatchObject({ status: 200, finalUrl: url });
      expect([socks.asked, http.asked]).toEqual([[site.host], [`GET ${url}`]]);
      expect(site.requests.map(({ host }) => host)).toEqual([`localhost:${site.port}`, `localhost:${site.port}`]);
    });

    test('a name is checked for each request, even with an open connection', async () => {
      const site = await startSite();
      const proxy = await startHttpProxy();
      const addresses = ['127.0.0.1', '10.0.0.1'];
      const resolve: Resolve = async () => at(addresses.shift() ?? '');
      const { fetch } = openFetcher([proxy], { allowedPrivate: allowing('127.0.0.1'), resolve });
      const url = `http://localhost:${site.port}/page/1`;
      expect(await fetch(url)).toMatchObject({ status: 200 });
      await expect(fetch(url)).rejects.toMatchObject({ reason: 'private_address' });
      expect(proxy.asked).toHaveLength(1);
    });

    test.each([
      ['ENOTFOUND', 'nxdomain'],
      ['EAI_AGAIN', 'dns'],
    ])(
      'a name that cannot be looked up here (%s) fails with reason %s without asking a proxy',
      async (code, reason) => {
        const proxy = await startHttpProxy();
        const resolve: Resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code }));
        const { fetch, rests } = openFetcher([proxy], { resolve });
        await expect(fetch('http://some.test/')).rejects.toMatchObject({ reason });
        expect([proxy.connections, rests]).toEqual([0, []]);
      },
    );

    test('a signal aborts a look-up at once', async () => {
      const proxy = await startHttpProxy();
      const asked = Promise.withResolvers<void>();
      const { fetcher, rests } = openFetcher([proxy], {
        resolve: () => {
          asked.resolve();
          return new Promise(() => {});
        },
      });
      const controller = new AbortController();
      const request = fetcher.fetch({ url: 'http://some.test/', maxBodyBytes: 1_000, signal: controller.signal });
      const noted = request.catch((error: unknown) => error);
      await asked.promise;
      controller.abort(new Error('enough'));
      expect(await noted).toMatchObject({ reason: 'aborted', cause: new Error('enough') });
      expect([proxy.connections, rests]).toEqual([0, []]);
    });

    test('a look-up that takes too long fails with reason timeout', async () => {
      const proxy = await startHttpProxy();
      const { fetch, rests } = openFetcher([proxy], { resolve: () => new Promise(() => {}), timeoutMs: 100 });
      await expect(fetch('http://some.test/')).rejects.toMatchObject({ reason: 'timeout' });
      expect([proxy.connections, rests]).toEqual([0, []]);
    });
  });
}
