import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConnectTurns } from '../../../../shared/fetchers/connect-turns.ts';
import type { SentRequest } from '../../../../shared/task/task/request.ts';
import type { ThroughProxies } from './proxy-setup.ts';
import { deadPort, startHttpProxy, startSite, startSocksProxy, trustOurs } from './proxy-setup.ts';

const LOGIN = 'jo:p%40ss';

/** Requests through proxies: what the site and the proxy see of them. */
export function describeProxiedRequests(openFetcher: ThroughProxies): void {
  describe('requests', () => {
    // biome-ignore format: a table
    test.each([
  ['http',   false, 'http',  undefined],
  ['http',   true,  'http',  undefined],
  ['http',   false, 'http',  'jo:pass'],
  ['http',   true,  'http',  'jo:pass'],
  ['https',  false, 'https', undefined],
  ['https',  true,  'https', 'jo:pass'],
  ['socks5', false, 'socks', undefined],
  ['socks5', true,  'socks', undefined],
  ['socks5', false, 'socks', 'jo:pass'],
  ['socks5', true,  'socks', 'jo:pass'],
] as const)('pages arrive through a %s proxy, TLS to the site %s, kind %s, login %s', async (_, tls, kind, login) => {
  const site = await startSite({ tls });
  const withLogin = login === undefined ? {} : { login };
  const proxy = await (kind === 'socks' ? startSocksProxy(login) : startHttpProxy({ tls: kind === 'https', ...withLogin }));
  const { fetch } = openFetcher([proxy]);
  for (const path of ['/page/1', '/page/2?', '/page/3']) expect(await fetch(site.url(path))).toMatchObject({ status: 200 });
  expect(await fetch(site.url('/status/503'))).toMatchObject({ status: 503 });
  expect([proxy.connections, site.requests.length]).toEqual([1, 4]);
  const forwarded = ['/page/1', '/page/2?', '/page/3', '/status/503'];
  const asked = {
    http: forwarded.map((path) => `GET ${site.url(path)}`),
    tunnel: [`CONNECT ${site.host}`],
    socks: [site.host],
  };
  expect(proxy.asked).toEqual(asked[kind === 'socks' ? 'socks' : tls ? 'tunnel' : 'http']);
});

    test.each([false, true])(
      'the site gets the same request as without a proxy, and no proxy login (TLS: %s)',
      async (tls) => {
        const site = await startSite({ tls });
        for (const proxy of [await startHttpProxy({ login: 'jo:pass' }), await startSocksProxy('jo:pass')]) {
          const { fetch } = openFetcher([proxy]);
          await fetch(site.url('/page/1').replace('://', '://me:secret@'));
          expect(site.requests.at(-1)?.headers).toEqual({
            'user-agent': 'TrawlBot/1',
            accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
            'accept-encoding': 'gzip, deflate, br, zstd',
            authorization: `Basic ${Buffer.from('me:secret').toString('base64')}`,
            host: site.host,
            connection: 'keep-alive',
          });
        }
      },
    );

    test('a proxy login can have any characters', async () => {
      const site = await startSite();
      const [http, socks] = [await startHttpProxy({ login: 'jo:p@ss' }), await startSocksProxy('jo:p@ss')];
      const { fetch } = openFetcher([http.url, socks.url].map((url) => url.replace('jo:p@ss', LOGIN)));
      for (let n = 1; n <= 2; n++) expect(await fetch(site.url(`/page/${n}`))).toMatchObject({ status: 200 });
      expect([http.asked.length, socks.asked.length]).toEqual([1, 1]);
    });

    test('a path that looks like a host is sent as a path', async () => {
      const site = await startSite();
      const proxy = await startHttpProxy();
      const { fetch } = openFetcher([proxy]);
      expect(await fetch(site.url('//169.254.169.254/latest'))).toMatchObject({ status: 404 });
      expect(site.requests.map(({ path }) => path)).toEqual(['//169.254.169.254/latest']);
    });

    test('a proxy gets no more connections than there are simultaneous requests', async () => {
      const site = await startSite({ tls: true });
      const proxy = await startHttpProxy();
      const { fetch } = openFetcher([proxy]);
      for (let round = 0; round < 5; round++) {
        await Promise.all(Array.from({ length: 4 }, (_, n) => fetch(site.url(`/page/${n + 1}`))));
      }
      expect([site.requests.length, proxy.connections]).toEqual([20, 4]);
    });

    test.each(['http', 'socks'])('a request lost by a kept %s tunnel is repeated once', async (kind) => {
      const site = await startSite({ tls: true });
      const { fetch, rests } = openFetcher([await (kind === 'http' ? startHttpProxy() : startSocksProxy())]);
      const used = new Set<unknown>();
      site.on('/idle-too-long', ({ socket }, response) => {
        if (used.has(socket)) socket.destroy();
        else response.end('well');
        used.add(socket);
      });
      await fetch(site.url('/idle-too-long'));
      expect(await fetch(site.url('/idle-too-long'))).toMatchObject({ status: 200 });
      expect([site.requests.length, site.connections]).toEqual([3, 2]);
      site.on('/gone', ({ socket }) => void socket.destroy());
      await expect(fetch(site.url('/gone'))).rejects.toMatchObject({ reason: 'connection' });
      expect([site.requests.map(({ path }) => path).slice(3), rests]).toEqual([['/gone', '/gone'], []]);
    });

    // The server or the proxy may be closing the kept connection at this moment.
    test.each([true, false])('a request that may not be repeated gets a new connection (TLS: %s)', async (tls) => {
      const site = await startSite({ tls });
      const proxies = [await startHttpProxy(), await startSocksProxy()];
      for (const proxy of proxies) {
        const { fetch, fetcher } = openFetcher([proxy]);
        await fetch(site.url('/page/1'));
        const send: SentRequest = { method: 'POST', body: 'x', mayRepeat: false };
        await fetcher.fetch({ url: site.url('/page/2'), maxBodyBytes: 100_000, send });
        await fetch(site.url('/page/3'));
      }
      expect(site.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET', 'GET', 'POST', 'GET']);
      expect(proxies.map(({ connections }) => connections)).toEqual([2, 2]);
    });

    test('interim answers passed on by a proxy are skipped', async () => {
      // The site can act as a proxy: a request in absolute form asks it for one of its own paths.
      const proxy = await startSite();
      proxy.on('/continued', ({ socket }) => {
        const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
        socket.write(`${interim}${interim}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell`);
      });
      const { fetch, fetcher } = openFetcher([proxy.origin]);
      for (const _again of [1, 2])
        expect(Buffer.from((await fetch('http://127.0.0.1:1/continued')).body).toString()).toBe('well');
      expect(proxy.connections).toBe(1);
      await fetcher.stop();
    });

    // A failure of the target is attributed to the target, although there is a proxy in between.
    // biome-ignore format: a table
    test.each([
  ['/truncated',     true,  'connection'],
  ['/truncated',     false, 'connection'],
  ['/no-http',       true,  'connection'],
  ['/hang',          true,  'timeout'],
  ['/hang',          false, 'timeout'],
  ['/drip?ms=5',     false, 'timeout'],
  ['/endless',       true,  'size'],
  ['/bad-gzip',      false, 'encoding'],
])('%s through a proxy (TLS: %s) fails with reason %s, and the proxy does not rest', async (path, tls, reason) => {
  const site = await startSite({ tls });
  const proxy = await startHttpProxy();
  const { fetch, rests } = openFetcher([proxy], { timeoutMs: reason === 'timeout' ? 500 : 5_000 });
  await expect(fetch(site.url(path))).rejects.toMatchObject({ reason });
  expect(rests).toEqual([]);
});

    test('an untrusted certificate of the site fails with reason tls through a tunnel as well', async () => {
      const site = await startSite({ tls: true });
      const { fetch, rests } = openFetcher([await startHttpProxy(), await startSocksProxy()]);
      trustOurs(false);
      onTestFinished(() => trustOurs(true));
      for (let n = 0; n < 2; n++) await expect(fetch(site.url('/page/1'))).rejects.toMatchObject({ reason: 'tls' });
      expect([site.requests, rests]).toEqual([[], []]);
    });

    test('a site that is down is at fault, not the proxies that could not reach it', async () => {
      const port = await deadPort();
      const [http, socks] = [await startHttpProxy(), await startSocksProxy()];
      for (const proxy of [http, socks]) {
        const { fetch, rests } = openFetcher([proxy]);
        await expect(fetch(`https://127.0.0.1:${port}/`)).rejects.toMatchObject({ reason: 'connection' });
        expect(rests).toEqual([]);
      }
      // In absolute form, an error answer of the proxy looks like one of the site.
      expect(await openFetcher([http]).fetch(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 502 });
    });

    test.each(['http', 'socks'])(
      'a signal aborts a request that hangs in a %s proxy, and closes its connection',
      async (kind) => {
        const site = await startSite({ tls: true });
        const proxy = await (kind === 'http' ? startHttpProxy() : startSocksProxy());
        proxy.mood = 'hangs';
        const asked = proxy.question();
        const { fetcher } = openFetcher([proxy]);
        const stop = new AbortController();
        const request = fetcher.fetch({ url: site.url('/page/1'), maxBodyBytes: 1_000, signal: stop.signal });
        const noted = request.catch((error: unknown) => error);
        await asked;
        stop.abort();
        expect(await noted).toMatchObject({ reason: 'aborted' });
        await proxy.disconnection();
      },
    );

    test.each(['http', 'socks'])('at most 64 tunnels are made at once through a %s proxy', async (kind) => {
      const site = await startSite({ tls: true });
      const proxy = await (kind === 'http' ? startHttpProxy() : startSocksProxy());
      proxy.mood = 'hangs';
      const connectTurns = new ConnectTurns({ mostWaitMs: 60_000 });
      const { fetcher } = openFetcher([proxy], { connectTurns, timeoutMs: 60_000 });
      const [first, last] = [new AbortController(), new AbortController()];
      const requests = Array.from({ length: 70 }, (_, n) => {
        const { signal } = n < 64 ? first : last;
        return fetcher.fetch({ url: site.url('/page/1'), maxBodyBytes: 1_000, signal }).catch(() => {});
      });
      while (proxy.connections < 64) await sleep(5);
      await sleep(150);
      expect([proxy.connections, connectTurns.waiting]).toEqual([64, 6]);
      last.abort();
      while (connectTurns.waiting > 0) await sleep(5);
      first.abort();
      await Promise.all(requests);
      expect(proxy.connections).toBe(64);
      await proxy.disconnection();
      proxy.mood = 'works';
      expect(await fetcher.fetch({ url: site.url('/page/1'), maxBodyBytes: 10_000 })).toMatchObject({ status: 200 });
    });

    test('no connection to a proxy is kept after `stop`', async () => {
      const [plain, secure] = [await startSite(), await startSite({ tls: true })];
      const proxies = [await startHttpProxy(), await startSocksProxy()];
      const { fetch, fetcher } = openFetcher(proxies);
      for (const site of [plain, plain, secure, secure]) await fetch(site.url('/page/1'));
      await fetcher.stop();
      for (const proxy of proxies) await proxy.disconnection();
    });
  });
}
