import { describe, expect, test } from 'vitest';
import { FetchError, RequestTimings } from '../../../../shared/ports/fetcher.ts';
import type { SentRequest } from '../../../../shared/task/task/request.ts';
import type { TestSite } from '../../../support/site.ts';
import type { Setup } from './setup.ts';

/** Makes a path answer with the request that it received. */
function echo(site: TestSite, path: string): void {
  site.on(path, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    request.on('end', () => {
      const { method, headers } = request;
      const { 'content-type': type, 'content-length': length, 'x-own': own, accept } = headers;
      const body = Buffer.concat(pieces).toString();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ method, type, length, own, accept, body }));
    });
  });
}

const POST: SentRequest = { method: 'POST', body: 'ä=1', headers: { 'content-type': 'text/x' }, mayRepeat: false };

/** Requests with another method, a body or own headers. */
export function describeRequests(setup: Setup): void {
  describe('requests', () => {
    // biome-ignore format: a table
    test.each<[SentRequest, object]>([
      [POST,                                                                     { method: 'POST', type: 'text/x', length: '4', body: 'ä=1' }],
      [{ method: 'POST', mayRepeat: false },                                     { method: 'POST', length: '0', body: '' }],
      [{ method: 'PUT', body: '{}', mayRepeat: true },                           { method: 'PUT', length: '2', body: '{}' }],
      [{ method: 'PATCH', body: 'x', mayRepeat: true },                          { method: 'PATCH', length: '1', body: 'x' }],
      [{ method: 'DELETE', mayRepeat: true },                                    { method: 'DELETE', body: '' }],
      [{ method: 'OPTIONS', mayRepeat: true },                                   { method: 'OPTIONS', body: '' }],
      [{ method: 'GET', headers: { 'x-own': 'a', accept: 'b' }, mayRepeat: true }, { method: 'GET', own: 'a', accept: 'b', body: '' }],
    ])('the request %o arrives unchanged', async (send, arrived) => {
      const { site, fetch } = await setup();
      echo(site, '/echo');
      const { status, body } = await fetch('/echo', { send });
      expect(status).toBe(200);
      expect(JSON.parse(Buffer.from(body).toString())).toMatchObject(arrived);
    });

    test.each(['/path?', '/path?#part', '/path', '/path#part?', '//path//', '/path?a=b?', '/100%'])(
      'the path and query of %s are sent unchanged',
      async (target) => {
        const { site, fetch } = await setup();
        await fetch(target);
        expect(site.requests.map(({ path }) => path)).toEqual([target.replace(/#.*/, '')]);
      },
    );

    test('the answer to a HEAD has no body, whatever its headers or server say', async () => {
      const { site, fetch } = await setup();
      const send = { method: 'HEAD', mayRepeat: true } as const;
      const large = { 'content-length': '5000000', 'content-encoding': 'compress' };
      site.on('/large', (_, response) => void response.writeHead(200, large).end());
      const answer = await fetch('/large', { send });
      expect([answer.status, answer.body.byteLength, site.requests[0]?.method]).toEqual([200, 0, 'HEAD']);
      expect(answer.headers).toMatchObject(large);
      // Some servers send a body anyway.
      site.on('/body', ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell'));
      expect((await fetch('/body', { send })).body).toHaveLength(0);
    });

    test('a request that may not be repeated is not sent again after its connection is cut', async () => {
      const { site, fetch } = await setup();
      await fetch('/page/1');
      site.on('/cut', (request) => void request.socket.destroy());
      const timings = new RequestTimings();
      await expect(fetch('/cut', { send: POST, timings })).rejects.toMatchObject({ reason: 'connection' });
      expect([site.count('/cut'), timings.isSent]).toEqual([1, true]);
    });

    test('a request that may be repeated is sent again when its kept connection is cut', async () => {
      const { site, fetch } = await setup();
      await fetch('/page/1');
      let asked = 0;
      site.on('/cut', (request, response) => {
        asked++;
        if (asked === 1) request.socket.destroy();
        else response.end('again');
      });
      const answer = await fetch('/cut', { send: { ...POST, mayRepeat: true } });
      expect([asked, Buffer.from(answer.body).toString()]).toEqual([2, 'again']);
    });

    test('a request that never reached its host does not count as sent', async () => {
      const { site, fetcher } = await setup();
      const port = site.port;
      const timings = new RequestTimings();
      const url = `http://127.0.0.1:${port === 1 ? 2 : 1}/`;
      await expect(fetcher.fetch({ url, maxBodyBytes: 100, send: POST, timings })).rejects.toBeInstanceOf(FetchError);
      expect(timings.isSent).toBe(false);
    });
  });
}
