import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConnectTurns } from '../../../../shared/fetchers/connect-turns.ts';
import { RequestTimings } from '../../../../shared/ports/fetcher.ts';
import { collectGarbage } from '../../../support/hostile/garbage.ts';
import { startBlockedListener } from '../../../support/listeners/blocked-listener.ts';
import { LoopbackServer } from '../../../support/listeners/loopback-server.ts';
import type { Setup } from './setup.ts';

/** Maximum connections being made at once in one process. */
const AT_ONCE = 64;

/** How many connections are made at once, and that hanging ones do not hold up the others for long. */
export function describeConnecting(setup: Setup): void {
  describe('connections being made', () => {
    test('64 connections, handshakes included, are made at once; the others wait until one of them ends', async () => {
      const connectTurns = new ConnectTurns({ mostWaitMs: 60_000 });
      const { fetcher } = await setup({ connectTurns });
      const mute = await startMute();
      const [first, others] = [new AbortController(), new AbortController()];
      const requests = Array.from({ length: AT_ONCE + 10 }, (_, n) => {
        const { signal } = n < 3 ? first : others;
        return fetcher.fetch({ url: mute.url, maxBodyBytes: 1, signal }).catch((error: unknown) => error);
      });
      while (mute.connections < AT_ONCE) await sleep(5);
      await sleep(150);
      expect([mute.connections, connectTurns.waiting]).toEqual([AT_ONCE, 10]);
      first.abort();
      while (mute.connections < AT_ONCE + 3) await sleep(5);
      await sleep(150);
      expect([mute.connections, connectTurns.waiting]).toEqual([AT_ONCE + 3, 7]);
      others.abort();
      for (const ended of await Promise.all(requests)) expect(ended).toMatchObject({ reason: 'aborted' });
      expect(connectTurns.waiting).toBe(0);
    });

    test.each([
      ['accept but never shake hands', startMute],
      ['do not even accept', startBlockedListener],
    ])(
      '64 hosts that %s do not hold up others for long, whose time-outs start only at their turn',
      async (_, start) => {
        const connectTurns = new ConnectTurns({ mostWaitMs: 2_000 });
        const { fetch, fetcher, site } = await setup({ connectTurns });
        const hosts = await start();
        const stop = new AbortController();
        // The backlog of a host that accepts nobody still takes two connections.
        const hanging = Array.from({ length: AT_ONCE + 4 }, () =>
          fetcher.fetch({ url: hosts.url, maxBodyBytes: 1, signal: stop.signal }).catch((error: unknown) => error),
        );
        while (connectTurns.waiting < 2) await sleep(5);
        const timings = new RequestTimings();
        const page = fetch('/page/1', { timings });
        const document = fetcher.open({ url: site.url('/page/2'), timeoutMs: 500 });
        expect(await page).toMatchObject({ status: 200 });
        expect(await document).toMatchObject({ status: 200 });
        for await (const piece of (await document).body) expect(piece.length).toBeGreaterThan(0);
        expect(timings.waitedMs).toBeGreaterThan(1_000);
        expect((await page).durationMs, 'the wait is not in it').toBeLessThan(1_000);
        stop.abort();
        for (const ended of await Promise.all(hanging)) expect(ended).toMatchObject({ reason: 'aborted' });
      },
    );

    test('a request reports just before it is sent, and whether the next one will need a new connection', async () => {
      const { fetch, fetcher, site } = await setup();
      site.on('/closes', (_, response) => void response.setHeader('connection', 'close').end('x'));
      const asked = async (path: string): Promise<[requestsBefore: number[], isClosing: boolean]> => {
        const sent: number[] = [];
        const timings = new RequestTimings(() => void sent.push(site.count(path)));
        await fetch(path, { timings });
        return [sent, timings.isClosing];
      };
      expect(await asked('/page/1'), 'before the request is sent').toEqual([[0], false]);
      expect(await asked('/page/2'), 'on a kept connection, too').toEqual([[0], false]);
      expect(await asked('/closes')).toEqual([[0], true]);
      expect(await asked('/page/3')).toEqual([[0], false]);
      let sent = 0;
      site.on('/robots.txt', (_, response) => void response.setHeader('connection', 'close').end('x'));
      for (let n = 0; n < 2; n++) {
        const timings = new RequestTimings(() => void sent++);
        for await (const _ of (await fetcher.open({ url: site.url('/robots.txt'), timings })).body);
        expect([sent, timings.isClosing], 'documents too').toEqual([n + 1, true]);
      }
    });

    test('a kept connection retains nothing of the request that it was made for', async () => {
      const { fetch, site } = await setup();
      const ask = async (path: string): Promise<WeakRef<RequestTimings>> => {
        const timings = new RequestTimings();
        await fetch(path, { timings });
        return new WeakRef(timings);
      };
      const first = await ask('/page/1');
      const isHeld = (): boolean => {
        collectGarbage();
        return first.deref() !== undefined;
      };
      await expect.poll(isHeld).toBe(false);
      await ask('/page/2');
      expect(site.connections, 'it is open still').toBe(1);
    });

    test('a request that waits for its turn ends with the signal at once and never reaches the site', async () => {
      const { fetcher, site } = await setup({ connectTurns: new ConnectTurns({ mostWaitMs: 60_000 }) });
      const mute = await startMute();
      const [stop, others] = [new AbortController(), new AbortController()];
      const hanging = Array.from({ length: AT_ONCE }, () =>
        fetcher.fetch({ url: mute.url, maxBodyBytes: 1, signal: others.signal }).catch(() => {}),
      );
      while (mute.connections < AT_ONCE) await sleep(5);
      const request = fetcher.fetch({ url: site.url('/page/1'), maxBodyBytes: 10_000, signal: stop.signal });
      const noted = request.catch((error: unknown) => error);
      await sleep(20);
      const abortedAt = performance.now();
      stop.abort();
      expect(await noted).toMatchObject({ reason: 'aborted' });
      expect(performance.now() - abortedAt).toBeLessThan(200);
      others.abort();
      await Promise.all(hanging);
      expect(await fetcher.fetch({ url: site.url('/page/2'), maxBodyBytes: 10_000 })).toMatchObject({ status: 200 });
      expect([site.connections, site.requests.map(({ path }) => path)]).toEqual([1, ['/page/2']]);
    });
  });
}

/** Starts a server that accepts connections and sends nothing, so that no handshake ends. */
async function startMute(): Promise<{ readonly url: string; readonly connections: number }> {
  let connections = 0;
  const server = createServer();
  const loopback = new LoopbackServer(server);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    loopback.keep(socket.resume());
  });
  await loopback.listen();
  onTestFinished(() => loopback.stop());
  return {
    url: `https://127.0.0.1:${loopback.port}/`,
    get connections() {
      return connections;
    },
  };
}
