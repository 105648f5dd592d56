import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ThroughProxies } from './proxy-setup.ts';
import { deadPort, startHttpProxy, startSite, startSocksProxy, trustOurs } from './proxy-setup.ts';

/** Proxies that fail: which proxy is asked next, and whether proxy or site is at fault. */
export function describeProxyFailover(openFetcher: ThroughProxies): void {
  describe('failover', () => {
    test('requests go through the proxies in turn', async () => {
      const site = await startSite();
      const [a, b, c] = [await startHttpProxy(), await startSocksProxy(), await startHttpProxy()];
      const { fetch } = openFetcher([a, b, c]);
      for (let n = 1; n <= 6; n++) await fetch(site.url('/page/1'));
      expect([a.asked.length, b.connections, c.asked.length]).toEqual([2, 1, 2]);
    });

    // biome-ignore format: a table
    test.each([
  ['http',  'no HTTP',       true,  'does not speak HTTP'],
  ['http',  { status: 407 }, true,  'wants a login (407)'],
  ['http',  { status: 407 }, false, 'wants a login (407)'],
  ['http',  { status: 401 }, true,  'wants a login (401)'],
  ['http',  { status: 502 }, true,  'answers CONNECT with 502'],
  ['http',  { status: 503 }, true,  'answers CONNECT with 503'],
  ['http',  { status: 504 }, true,  'answers CONNECT with 504'],
  ['http',  { status: 403 }, true,  'answers CONNECT with 403'],
  ['http',  'hangs up',      true,  'hung up on CONNECT: socket hang up'],
  ['http',  'hangs',         true,  'has not reached the host within 1000 ms'],
  ['socks', 1,               true,  'answers "general failure"'],
  ['socks', 2,               false, 'does not allow the host'],
  ['socks', 8,               false, 'does not know that kind of address'],
  ['socks', 7,               false, 'can\'t be used: Socks5 proxy rejected connection - CommandNotSupported'],
  ['socks', 'hangs up',      false, 'hung up'],
  ['socks', 'hangs',         true,  'has not reached the host within 1000 ms'],
] as const)('after a fault of a %s proxy (%j, TLS %s) the next one is asked and this one rests: it %s', async (kind, mood, tls, said) => {
  const site = await startSite({ tls });
  const bad = await (kind === 'http' ? startHttpProxy() : startSocksProxy());
  const good = await startHttpProxy();
  const { fetch, rests, clock } = openFetcher([bad, good], { timeoutMs: 2_000 });
  Object.assign(bad, { mood });
  for (let n = 1; n <= 3; n++) expect(await fetch(site.url(`/page/${n}`))).toMatchObject({ status: 200 });
  expect(rests).toEqual([`60 s: ${bad.url} ${said}`]);
  expect([bad.connections, site.requests.length]).toEqual([1, 3]);
  Object.assign(bad, { mood: 'works' });
  clock.step(60_000);
  for (let n = 1; n <= 2; n++) await fetch(site.url(`/page/${n}`));
  expect(bad.connections).toBe(2);
  expect(rests).toHaveLength(1);
});

    test.each([
      ['http', false],
      ['http', true],
      ['https', false],
      ['socks5', true],
    ])('the next proxy is asked when nobody listens at the %s proxy (TLS to the site: %s)', async (scheme, tls) => {
      const site = await startSite({ tls });
      const name = `${scheme}://127.0.0.1:${await deadPort()}`;
      const { fetch, rests } = openFetcher([name, await startHttpProxy()]);
      expect(await fetch(site.url('/page/1'))).toMatchObject({ status: 200 });
      expect(rests).toEqual([expect.stringMatching(`^60 s: ${name} can't be connected to: connect ECONNREFUSED`)]);
    });

    test('a proxy with an untrusted certificate rests, and gets neither request nor login', async () => {
      const site = await startSite();
      const proxy = await startHttpProxy({ tls: true, login: 'jo:sesame' });
      const { fetch, rests } = openFetcher([proxy]);
      trustOurs(false);
      onTestFinished(() => trustOurs(true));
      await expect(fetch(site.url('/page/1'))).rejects.toMatchObject({ reason: 'proxy' });
      expect([rests, proxy.asked]).toEqual([
        [expect.stringContaining("can't be connected to: self-signed certificate")],
        [],
      ]);
    });

    test('without a usable proxy a request fails with reason proxy, during and after a rest, and shows no login', async () => {
      const site = await startSite();
      const [http, socks] = [await startHttpProxy({ login: 'right:one' }), await startSocksProxy('right:one')];
      const dead = `http://jo:sesame@127.0.0.1:${await deadPort()}`;
      const wrong = [http, socks].map(({ url }) => url.replace('right:one', 'jo:sesame'));
      const { fetch, rests, clock } = openFetcher([dead, ...wrong]);
      const failures: unknown[] = [];
      for (let n = 0; n < 2; n++) failures.push(await fetch(site.url('/page/1')).catch((error: unknown) => error));
      clock.step(60_000);
      failures.push(await fetch(site.url('/page/1')).catch((error: unknown) => error));
      for (const failure of failures) {
        expect(failure).toMatchObject({ reason: 'proxy' });
        expect(String(failure)).toContain(`http://127.0.0.1:${http.port} does not take our login (407)`);
        expect(String(failure)).toContain(
          `socks5://127.0.0.1:${socks.port} can't be used: Socks5 Authentication failed`,
        );
        expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/sesame|amo6c2VzYW1l/);
      }
      expect(rests.map((line) => line.slice(0, 5))).toEqual(['60 s:', '60 s:', '60 s:', '120 s', '120 s', '120 s']);
      expect(rests.join()).not.toContain('sesame');
      expect(site.requests).toEqual([]);
    });

    test('a host that no proxy reaches is itself at fault, and no proxy rests', async () => {
      const site = await startSite({ tls: true });
      const gone = await deadPort();
      const proxies = [await startHttpProxy(), await startHttpProxy(), await startSocksProxy()];
      const { fetch, rests } = openFetcher(proxies);
      for (let n = 0; n < 5; n++) {
        await expect(fetch(`https://127.0.0.1:${gone}/`)).rejects.toMatchObject({ reason: 'connection' });
        expect(await fetch(site.url('/page/1'))).toMatchObject({ status: 200 });
      }
      expect(rests).toEqual([]);
    });

    test('a proxy that fails for several hosts in a row rests, although each of them might have been down', async () => {
      const proxy = await startHttpProxy();
      proxy.mood = { status: 503 };
      const { fetch, rests } = openFetcher([proxy]);
      const reasons: unknown[] = [];
      for (let n = 1; n <= 4; n++) {
        reasons.push(await fetch(`https://127.0.0.${n}/`).catch(({ reason }: { reason: string }) => reason));
      }
      expect(reasons).toEqual(['connection', 'connection', 'proxy', 'proxy']);
      expect(rests).toHaveLength(1);
      expect(proxy.asked).toHaveLength(3);
    });

    test.each(['hangs', 'hangs up'] as const)(
      'a proxy that %s on requests in absolute form rests after three hosts in a row gave no answer',
      async (mood) => {
        const proxy = await startHttpProxy();
        proxy.mood = mood;
        const { fetch, rests } = openFetcher([proxy], { timeoutMs: 200 });
        const reasons: unknown[] = [];
        for (const n of [1, 1, 2, 3, 4]) {
          reasons.push(await fetch(`http://127.0.0.${n}/`).catch(({ reason }: { reason: string }) => reason));
        }
        const reason = mood === 'hangs' ? 'timeout' : 'connection';
        // By then our own network might be at fault just as well.
        const third = mood === 'hangs' ? 'network' : reason;
        expect(reasons).toEqual([reason, reason, reason, third, 'proxy']);
        expect(rests).toEqual([expect.stringContaining(`60 s: ${proxy.url} did not answer: `)]);
      },
    );

    test('hanging proxies leave a request time to try others, and it still ends in time', async () => {
      const site = await startSite({ tls: true });
      const proxies = [await startHttpProxy(), await startHttpProxy(), await startHttpProxy(), await startHttpProxy()];
      for (const proxy of proxies) proxy.mood = 'hangs';
      const { fetch } = openFetcher(proxies, { timeoutMs: 400 });
      const startedAt = performance.now();
      await expect(fetch(site.url('/page/1'))).rejects.toMatchObject({ reason: 'timeout' });
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      expect(proxies.filter(({ asked }) => asked.length > 0).length).toBeGreaterThan(1);
    });

    test.each([{ status: 502 }, { status: 503 }])(
      'for a request in absolute form, %j from the proxy counts as the answer of the site',
      async (mood) => {
        const site = await startSite();
        const proxy = await startHttpProxy();
        proxy.mood = mood;
        const { fetch, rests } = openFetcher([proxy]);
        expect(await fetch(site.url('/page/1'))).toMatchObject(mood);
        expect(rests).toEqual([]);
      },
    );

    test('a 407 of the site itself is an answer if it comes through a tunnel', async () => {
      const site = await startSite({ tls: true });
      const { fetch, rests } = openFetcher([await startHttpProxy()]);
      expect(await fetch(site.url('/status/407'))).toMatchObject({ status: 407 });
      expect(rests).toEqual([]);
    });
  });
}
