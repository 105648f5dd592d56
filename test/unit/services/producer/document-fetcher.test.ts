import { expect, test } from 'vitest';
import { DocumentFetcher } from '../../../../services/producer/documents/document-fetcher.ts';
import { openProxied } from '../../../support/proxies/proxied.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { withMethods } from '../../../support/with-methods.ts';
import { openSite } from './documents.ts';
import { HurriedClock } from './hurried-clock.ts';
import { openFetcher } from './setup.ts';

function setup({ intervalMs = 0, concurrency = 1, fetcher = openFetcher(), bodyMs = 60_000 } = {}) {
  const clock = new HurriedClock();
  const { gate: hostGate, hosts, database } = openLocalParts({ clock });
  const limit = { intervalMs, concurrency };
  const documents = new DocumentFetcher({ fetcher, hostGate, clock, limit, holder: 'test', bodyMs, random: () => 0.5 });
  const stop = new AbortController();
  const read = async (url: string, taking = async () => {}): Promise<string> => {
    let text = '';
    for await (const piece of documents.read(url, { maxBytes: 1_000_000, signal: stop.signal })) {
      text = typeof piece === 'string' ? text + piece : '';
      await taking();
    }
    return text;
  };
  /** The number of places taken at a host. */
  const open = (host: string): number =>
    database.all("SELECT 1 FROM hosts, json_each(places) WHERE host = ? AND places != ''", host).length;
  /** The response time that the gate keeps for a host. */
  const responseMs = (host: string): unknown => database.all('SELECT responseMs FROM hosts WHERE host = ?', host)[0];
  return { clock, hosts, hostGate, limit, stop, read, open, responseMs };
}

test.each<[string, number, string, number[]]>([
  ['/status/404', 1, 'answered with status 404', []],
  ['/status/304', 1, 'answered with status 304', []],
  ['/status/503', 3, 'answered with status 503', [1_000, 2_000]],
  ['/status/522', 3, 'answered with status 522', [1_000, 2_000]],
  ['/status/429', 3, 'answered with status 429', [15_000, 30_000]],
  ['/status/429?retry-after=30', 3, 'answered with status 429', [30_000, 30_000]],
  ['/status/503?retry-after=3600', 1, 'answered with status 503', []],
  ['/reset', 3, 'could not be fetched: ', [1_000, 2_000]],
  ['/truncated', 3, 'could not be fetched: ', [1_000, 2_000]],
  ['/redirect/11', 1, 'could not be fetched: ', []],
  ['/big?bytes=2000000', 1, 'is longer than 1000000 bytes, unpacked', []],
])('%s is asked for %i times', async (path, times, message, sleeps) => {
  const site = await openSite();
  const { read, clock } = setup();
  await expect(read(site.url(path))).rejects.toThrow(message);
  expect(site.count(path)).toBe(times);
  expect(clock.sleeps).toEqual(sleeps);
});

test.each(['/reset', '/status/429'])('%s does not count as a quick answer of its host', async (path) => {
  const site = await openSite();
  const { read, hostGate, limit, responseMs } = setup();
  await hostGate.leave(site.host, limit, 'a page', { durationMs: 10_000 });
  await expect(read(site.url(path))).rejects.toThrow();
  expect(responseMs(site.host)).toEqual({ responseMs: 10_000 });
});

test('a document is read behind a redirect to itself that sets a cookie, which no other origin or document gets', async () => {
  const [site, elsewhere] = [await openSite(), await openSite()];
  const seen: (string | undefined)[] = [];
  site.on('/sitemap.xml', ({ headers: { cookie } }, response) => {
    seen.push(cookie);
    if (cookie !== undefined) response.writeHead(302, { location: elsewhere.url('/real.xml') }).end();
    else response.writeHead(302, { location: '/sitemap.xml', 'set-cookie': 'visitor=1; Path=/' }).end();
  });
  elsewhere.on('/real.xml', ({ headers: { cookie } }, response) => {
    seen.push(cookie);
    response.writeHead(200).end('<urlset/>');
  });
  const { read } = setup();
  expect(await read(site.url('/sitemap.xml'))).toBe('<urlset/>');
  expect(seen).toEqual([undefined, 'visitor=1', undefined]);
  await read(site.url('/sitemap.xml'));
  expect(seen.slice(3), 'the next document begins without').toEqual([undefined, 'visitor=1', undefined]);
});

test('without a usable proxy the fetcher waits for as long as the proxies rest, and tries again', async () => {
  const site = await openSite();
  const { fetcher, proxies } = await openProxied(1);
  const { read, clock } = setup({ fetcher });
  await expect(read(site.url('/sitemap.xml'))).rejects.toThrow('could not be fetched: No proxy can be used: http://');
  expect([clock.sleeps, site.requests, proxies[0]?.connections]).toEqual([[60_000, 60_000], [], 0]);
});

test('a document that succeeds at the third try is read', async () => {
  const site = await openSite();
  const { read } = setup();
  expect(await read(site.url('/flaky/x/2'))).toContain('Page 1');
});

test('tries that get further than those before don’t count, up to ten', async () => {
  const site = await openSite();
  const { read } = setup();
  let length = 0;
  site.on('/s.txt', (request, response) => {
    length += 1_000;
    response.writeHead(200, { 'content-length': 100_000 }).write('x'.repeat(length), () => request.socket.end());
  });
  await expect(read(site.url('/s.txt'))).rejects.toThrow('could not be fetched');
  expect(site.count('/s.txt')).toBe(10);
});

test('a host is asked at its interval, and its place is given back', async () => {
  const site = await openSite();
  const { read, clock, open } = setup({ intervalMs: 1_000 });
  for (let i = 0; i < 5; i++) await read(site.url('/page/1'));
  expect(clock.sleeps).toEqual([1_000, 1_000, 1_000, 1_000]);
  expect(open(site.host)).toBe(0);
});

test('each redirect waits for a turn of the host it leads to', async () => {
  const [site, hub] = [await openSite(), await openSite()];
  const { read, clock, open, hostGate } = setup({ intervalMs: 1_000 });
  site.on('/s.xml', (_, response) => void response.writeHead(302, { location: '/redirect/2' }).end());
  site.on('/redirect/1', (_, response) => void response.writeHead(302, { location: hub.url('/page/1') }).end());
  await hostGate.pause(hub.host, 3_000, 'by another');
  expect(await read(site.url('/s.xml'))).toContain('Page 1');
  expect(clock.sleeps).toEqual([1_000, 1_000, 1_000]);
  expect([site.requests.length, hub.requests.length]).toEqual([3, 1]);
  for (const { host } of [site, hub]) expect(open(host)).toBe(0);
});

test('a redirect to another scheme and one that never ends fail with errors of their own', async () => {
  const site = await openSite();
  const { read } = setup();
  await expect(read(site.url('/redirect-to?url=ftp://h/'))).rejects.toThrow(
    'could not be fetched: The redirect leads to a URL that is not http or https',
  );
  await expect(read(site.url('/redirect/12'))).rejects.toThrow('redirected more than 10 times');
  expect(site.requests).toHaveLength(12);
});

test.each([
  ['/status/503?retry-after=3600', 3_600_000, 'status 503'],
  ['/status/429', 60_000, 'status 429'],
])('a host that answers %s is paused for everybody', async (path, pausedMs, reason) => {
  const site = await openSite();
  const { read, hosts } = setup();
  await expect(read(site.url(path))).rejects.toThrow();
  expect(await hosts.paused(9)).toEqual([expect.objectContaining({ host: site.host, pausedMs, reason })]);
});

test('a paused host is waited for, in short naps', async () => {
  const site = await openSite();
  const { read, hostGate, clock } = setup();
  await hostGate.pause(site.host, 9_000, 'by hand');
  await read(site.url('/page/1'));
  expect(clock.sleeps).toEqual([2_000, 2_000, 2_000, 2_000, 1_000]);
});

test('a turn that is granted too late is skipped, and the next one is used', async () => {
  const site = await openSite();
  const clock = new HurriedClock();
  const gate = openLocalParts({ clock }).gate;
  const limit = { intervalMs: 1_000, concurrency: 1 };
  const asked: number[] = [];
  const late = withMethods(gate, {
    ask: async (...args) => {
      asked.push(clock.now());
      const grant = await gate.ask(...args);
      // Only the first answer takes long to arrive.
      if (asked.length === 1) await clock.sleep(150);
      return grant;
    },
  });
  const parts = { fetcher: openFetcher(), hostGate: late, clock, limit, holder: 'test', random: () => 0.5 };
  const signal = new AbortController().signal;
  await Array.fromAsync(new DocumentFetcher(parts).read(site.url('/page/1'), { maxBytes: 1_000_000, signal }));
  expect(clock.now() - (asked[0] ?? 0), 'the turn after the one that was missed').toBe(1_000);
  expect(site.requests).toHaveLength(1);
});

test('stopping ends a request under way', async () => {
  const site = await openSite();
  const { read, stop, open } = setup();
  const reading = read(site.url('/hang'));
  await site.arrival('/hang');
  stop.abort();
  await expect(reading).rejects.toMatchObject({ reason: 'aborted' });
  expect(open(site.host)).toBe(0);
});

test('a document that arrives bit by bit fails when the time for its whole body is over', async () => {
  const site = await openSite();
  site.on('/drip.xml', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    const drip = setInterval(() => response.write('x'.repeat(100)), 20);
    response.once('close', () => clearInterval(drip));
  });
  const { read, open } = setup({ bodyMs: 300 });
  await expect(read(site.url('/drip.xml'))).rejects.toThrow(
    'could not be fetched: The body did not arrive within 300 ms',
  );
  expect(open(new URL(site.origin).host)).toBe(0);
});

test('time spent waiting for the reader does not count towards the time for the body', async () => {
  const site = await openSite();
  site.on('/big.xml', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' }).end('x'.repeat(900_000));
  });
  const { read } = setup({ bodyMs: 1_500 });
  const slowly = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 200));
  const began = performance.now();
  expect((await read(site.url('/big.xml'), slowly)).length).toBe(900_000);
  expect(performance.now() - began).toBeGreaterThan(2_000);
  expect(site.count('/big.xml')).toBe(1);
});
